import Logging
import RichPush
import Synchronization

/// Takes back uploads in parts that were begun and not completed: the bucket's owner pays for such parts until then.
///
/// In time of its own: the request whose upload it was may have none left.
final class UploadCleanup: Sendable {
    private let client: S3Client
    private let logger: Logger
    private let state = Mutex((last: 0, tasks: [Int: Task<Void, Never>]()))

    init(_ client: S3Client, logger: Logger) {
        self.client = client
        self.logger = logger
    }

    /// Begins, and does not wait.
    func abandon(_ id: String, of key: String) {
        state.withLock { state in
            state.last += 1
            let number = state.last
            state.tasks[number] = Task { [self] in
                await tryToAbandon(id, of: key)
                forget(number)
            }
        }
    }

    private func forget(_ number: Int) { state.withLock { $0.tasks[number] = nil } }

    /// Returns when nothing is left to take back, or so much later: then what is under way is cancelled.
    func finish(within limit: Duration) async {
        let alarm = Task {
            try await ContinuousClock().sleep(for: limit)
            for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
        }
        while let task = state.withLock({ $0.tasks.values.first }) { await task.value }
        alarm.cancel()
    }

    private func tryToAbandon(_ id: String, of key: String) async {
        do {
            try await abandonNow(id, of: key, before: .now + .seconds(Limits.publishCleanupSecondsMax))
        } catch {
            logger.warning(
                "an upload that failed could not be taken back; let the bucket expire incomplete ones",
                metadata: ["error": "\(error)"])
        }
    }

    /// - Throws: `publish.…` when the endpoint does not take it back; that it is gone already is as good.
    func abandonNow(_ id: String, of key: String, before deadline: ContinuousClock.Instant) async throws {
        var request = S3Request(.delete, key, query: ["uploadId": id])
        request.accepted = [404]
        _ = try await client.send(request, before: deadline)
    }
}
