import AttachPrepService
import Glibc

/// Handles Ctrl-C and SIGTERM.
enum Interruption {
    /// Runs work until it is done: the first signal cancels it, so that it cleans up, the second ends the process.
    static func cancellingOnInterrupt<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result
    ) async -> Result {
        let (interruption, continuation) = AsyncStream.makeStream(of: Never.self)
        // Installed before the work begins, so that no signal ends the process without cleanup.
        let handler = SignalHandler(SIGINT, SIGTERM) { number in
            continuation.finish()
            signal(number, SIG_DFL)
        }
        defer { handler.stop() }
        let task = Task(name: "work") { await work() }
        let canceller = Task {
            for await _ in interruption {}
            task.cancel()
        }
        defer { canceller.cancel() }
        return await task.value
    }

    /// Runs work, and cleans up before a signal ends the process.
    static func cleaningUp<Result>(
        _ cleanUp: @escaping @Sendable () -> Void, _ work: () async throws -> Result
    ) async rethrows -> Result {
        let handler = SignalHandler(SIGINT, SIGTERM) { number in
            cleanUp()
            signal(number, SIG_DFL)
            kill(getpid(), number)
        }
        defer { handler.stop() }
        return try await work()
    }
}
