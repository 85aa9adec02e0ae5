import AttachPrep
import AttachPrepJobs

/// The current state of a service's queue, publish target and media processes; all values are read without waiting.
struct ServiceStatus: Sendable {
    /// The kind of job queue.
    enum QueueKind: String, CaseIterable, Encodable, Sendable {
        case sqlite
        case postgres
    }

    /// The number of media slots, and how many media processes were replaced.
    struct MediaProcesses: Codable, Sendable {
        var slots: Int
        var failed: Int
        var recycled: Int
    }

    var queueKind = QueueKind.sqlite
    /// The queue's database without credentials; `local` for a SQLite database, whose path is not disclosed.
    var queueName = "local"
    var queue: @Sendable () -> ComponentHealth = { .healthy }
    /// The bucket as given with `--publish`; `file` for files that this service serves.
    var publishName = "file"
    var publish: @Sendable () -> ComponentHealth = { .healthy }
    /// Nil with `--accept-only`.
    var mediaProcesses: @Sendable () -> MediaProcesses? = { nil }
    /// The workers of the queue, on all machines.
    var workers: @Sendable () async throws -> [WorkerReport] = { [] }
}

/// The last known health of the queue or the publish target.
struct ComponentHealth: Sendable, Hashable {
    /// Nil until the first check.
    var isHealthy: Bool?
    /// What is wrong, as a sentence.
    var reason: String?

    static let unknown = ComponentHealth()
    static let healthy = ComponentHealth(isHealthy: true)

    static func unhealthy(_ reason: String) -> ComponentHealth { ComponentHealth(isHealthy: false, reason: reason) }

    /// Healthy if and only if `reason` is nil.
    init(reason: String?) {
        self.init(isHealthy: reason == nil, reason: reason)
    }

    init(isHealthy: Bool? = nil, reason: String? = nil) {
        (self.isHealthy, self.reason) = (isHealthy, reason)
    }
}

extension ServiceStatus {
    /// Reads the status from the parts of a running server.
    init(
        _ configuration: ServeConfiguration, worker: JobWorker?, store: any StoreMaintenance,
        preparer: AttachmentPreparer,
        target: PublishTargetMonitor?, housekeeping: Housekeeping
    ) {
        self.init()
        queueKind = configuration.queue == nil ? .sqlite : .postgres
        queueName = configuration.queue.map { "\($0.address)" } ?? "local"
        queue = {
            let outage = worker?.outages.first { $0.dependency == .database || $0.dependency == .disk }
            return ComponentHealth(reason: outage?.reason ?? store.unavailableReason)
        }
        if target != nil { publishName = "\(configuration.preparer.publish)" }
        publish = { target?.health ?? ComponentHealth(reason: housekeeping.unavailableReason) }
        let slots = configuration.preparer.mediaSlots
        if worker != nil {
            mediaProcesses = {
                let replaced = preparer.statistics.replacements
                return MediaProcesses(slots: slots, failed: replaced.failed, recycled: replaced.recycled)
            }
        }
    }
}
