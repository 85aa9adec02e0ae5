import AttachPrepJobs
import Logging
import RichPush
import Synchronization

/// Removes what is no longer needed, at the start and once a minute.
final class Housekeeping: Sendable {
    private let store: SQLiteStore
    private let logger: Logger
    private let bell: AsyncStream<Void>
    private let ring: AsyncStream<Void>.Continuation

    init(store: SQLiteStore, logger: Logger) {
        self.store = store
        self.logger = logger
        (bell, ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
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
    }
}
