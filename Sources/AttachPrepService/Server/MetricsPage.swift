import AttachPrep
import AttachPrepJobs
import Logging

/// The text of `/metrics`: what was counted, and what there is now.
struct MetricsPage: Sendable {
    let registry: PrometheusRegistry
    let metrics: JobMetrics
    let store: any JobStore & StoreKeeping
    let preparer: AttachmentPreparer
    let logger: Logger

    func text() async -> String {
        metrics.note(preparer.statistics)
        metrics.note(refusedClaims: store.refusedClaims)
        do {
            try await metrics.refresh(store)
        } catch {
            logger.warning("the queue's numbers could not be read", metadata: ["error": "\(error)"])
        }
        return registry.exposition()
    }
}
