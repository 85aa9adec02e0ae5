import AttachPrep
import AttachPrepJobs

extension Surroundings {
    /// What a server's parts say of themselves.
    init(
        _ configuration: ServeConfiguration, worker: JobWorker?, store: any StoreKeeping, preparer: AttachmentPreparer,
        target: TargetWatch?, housekeeping: Housekeeping
    ) {
        self.init()
        queueKind = configuration.queue == nil ? .sqlite : .jetstream
        queueName = configuration.queue.map { "\($0)" } ?? "local"
        queue = {
            if case .unavailable(let reason) = worker?.health { return .fault(reason) }
            return PlaceHealth(reason: store.fault)
        }
        if target != nil { publishName = "\(configuration.preparer.publish)" }
        publish = { target?.health ?? PlaceHealth(reason: housekeeping.fault) }
        let slots = configuration.preparer.mediaSlots
        if worker != nil {
            children = { Children(slots: slots, replacements: preparer.statistics.children) }
        }
    }
}
