import AttachPrepJobs
import Logging
import RichPush

/// The store that a process works with, and what it needs of this machine.
struct OpenedStore: Sendable {
    let store: any JobStore & StoreKeeping
    /// Who counts arrivals.
    let receipts: any ReceiptStore
    let receiptKey: ReceiptKey
}

extension ServeConfiguration {
    /// Opens the data folder, or the queue on its servers, which are waited for while they start.
    ///
    /// - Throws: `queue.unavailable`: what stands in the way, in a sentence.
    func openStore(_ feed: JobFeed, _ logger: Logger) async throws -> OpenedStore {
        guard let queue else {
            let store = try await SQLiteStore.open(
                folder: stateFolder, durability: durability, role: .service, limits: storeLimits, feed: feed,
                logger: logger, marksCrashes: true)
            return OpenedStore(
                store: store, receipts: store, receiptKey: try await ReceiptKey.open(folder: stateFolder))
        }
        let store = try await openQueue(queue, feed, logger)
        return OpenedStore(store: store, receipts: NoReceipts(), receiptKey: .random())
    }

    private func openQueue(_ queue: QueueServers, _ feed: JobFeed, _ logger: Logger) async throws -> JetStreamQueue {
        let end = ContinuousClock.now + .seconds(Limits.queueConnectSecondsMax)
        let refusals = RefusalLog(logger)
        var reason = ""
        while true {
            do {
                return try await JetStreamQueue.open(
                    queue, folder: stateFolder, limits: storeLimits, feed: feed, logger: logger, refusals: refusals,
                    marksCrashes: true)
            } catch let error as AttachPrepError {
                guard error.isRetryable, ContinuousClock.now < end else { throw error }
                if error.message != reason {
                    logger.warning(
                        "the queue's servers are not there yet",
                        metadata: ["queue": "\(queue)", "reason": "\(error.message)"])
                }
                reason = error.message
                try await ContinuousClock().sleep(for: .seconds(Limits.queueConnectPauseSeconds))
            }
        }
    }
}
