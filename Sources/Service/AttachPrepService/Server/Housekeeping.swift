import AttachPrepJobs
import Logging
import MediaTypes

/// Sweeps expired jobs, results, uploads and files from the store, at the start and once a minute.
final class Housekeeping: Sendable {
    private let store: any StoreMaintenance
    private let logger: Logger
    private let triggers: AsyncStream<Void>
    private let trigger: AsyncStream<Void>.Continuation

    init(store: any StoreMaintenance, logger: Logger) {
        self.store = store
        self.logger = logger
        (triggers, trigger) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Why the store accepts no jobs; nil while it is below the media quota.
    var unavailableReason: String? {
        store.isFull
            ? "The media quota is exceeded and no file can be removed yet; raise the quota or lower the retention."
            : nil
    }

    func run() async {
        let timer = Task { [trigger] in
            while !Task.isCancelled {
                trigger.yield()
                try await ContinuousClock().sleep(for: .seconds(Limits.housekeepingSeconds))
            }
        }
        for await _ in triggers { await sweep() }
        timer.cancel()
    }

    func stop() { trigger.finish() }

    private func sweep() async {
        do {
            let report = try await store.sweep()
            if report.jobs + report.results + report.uploads + report.files + report.receipts > 0 {
                logger.info(
                    "swept",
                    metadata: [
                        "jobs": .stringConvertible(report.jobs), "results": .stringConvertible(report.results),
                        "uploads": .stringConvertible(report.uploads),
                        "receipts": .stringConvertible(report.receipts),
                        "files": .stringConvertible(report.files), "bytes": .stringConvertible(report.bytes),
                        "leftBytes": .stringConvertible(report.mediaBytes),
                    ])
            }
            if report.unknownFiles > 0 {
                logger.warning(
                    """
                    media files without an entry in the job database are removed after one day; if the database was \
                    replaced or emptied, stop the service and restore its backup
                    """,
                    metadata: ["files": .stringConvertible(report.unknownFiles)])
            }
            if report.isOverQuota {
                logger.warning(
                    "media quota exceeded: no remaining file can be removed yet",
                    metadata: ["bytes": .stringConvertible(report.mediaBytes)])
            }
        } catch is CancellationError {
            // The service is stopping; the next start sweeps.
        } catch {
            logger.error("cannot remove expired files", metadata: ["error": "\(error)"])
        }
    }
}

extension Limits {
    /// Interval between cleanups.
    static let housekeepingSeconds = 60.0
}
