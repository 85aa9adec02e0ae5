import AttachPrepJobs
import Logging
import RichPush

/// Removes what is no longer needed, at the start and once a minute.
final class Housekeeping: Sendable {
    private let store: any StoreKeeping
    private let logger: Logger
    private let bell: AsyncStream<Void>
    private let ring: AsyncStream<Void>.Continuation

    init(store: any StoreKeeping, logger: Logger) {
        self.store = store
        self.logger = logger
        (bell, ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Why no job can be taken; nil when there is room.
    var fault: String? {
        store.isFull
            ? "Files take more room than the media quota, and all of them are needed or too young to go." : nil
    }

    /// Returns after `stop`.
    func run() async {
        let timer = Task { [ring] in
            while !Task.isCancelled {
                ring.yield()
                try await ContinuousClock().sleep(for: .seconds(Limits.housekeepingSeconds))
            }
        }
        for await _ in bell { await sweep() }
        timer.cancel()
    }

    func stop() { ring.finish() }

    private func sweep() async {
        do {
            let report = try await store.sweep()
            if report.jobs + report.results + report.uploads + report.files + report.receipts > 0 {
                logger.info(
                    "swept",
                    metadata: [
                        "jobs": "\(report.jobs)", "results": "\(report.results)", "uploads": "\(report.uploads)",
                        "receipts": "\(report.receipts)",
                        "files": "\(report.files)", "bytes": "\(report.bytes)", "left": "\(report.mediaBytes)",
                    ])
            }
            if report.unknownFiles > 0 {
                logger.warning(
                    """
                    media files that the job database does not know are kept for a day; if the database was replaced \
                    or emptied, stop the service and put its copy back
                    """,
                    metadata: ["files": "\(report.unknownFiles)"])
            }
            if report.isOverQuota {
                logger.warning(
                    "over the quota, and all that is left is needed or too young",
                    metadata: ["bytes": "\(report.mediaBytes)"])
            }
        } catch is CancellationError {
            // The service is leaving; the next one sweeps.
        } catch {
            logger.error("what is no longer needed could not be removed", metadata: ["error": "\(error)"])
        }
    }
}
