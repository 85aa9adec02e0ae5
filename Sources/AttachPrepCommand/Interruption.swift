import Dispatch
import Glibc
import Synchronization

/// Handles Ctrl-C and SIGTERM: the first signal cancels the work, which then cleans up; the second ends the process.
struct Interruption {
    private let sources: [any DispatchSourceSignal]

    /// Runs work until it is done or cancelled by a signal.
    static func watch<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) async -> Result {
        // Installs the handlers before the work begins, so that no signal ends the process without cleanup.
        let cancellation = Cancellation()
        let interruption = Interruption { cancellation.cancel() }
        defer { interruption.stop() }
        let task = Task(name: "work") { await work() }
        cancellation.attach { task.cancel() }
        return await task.value
    }

    /// Runs work, and cleans up before a signal ends the process.
    static func cleaningUp<Result>(
        _ cleanUp: @escaping @Sendable () -> Void, _ work: () async throws -> Result
    ) async rethrows -> Result {
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                cleanUp()
                signal(number, SIG_DFL)
                kill(getpid(), number)
            }
            source.resume()
            return source
        }
        defer { for source in sources { source.cancel() } }
        return try await work()
    }

    private init(_ cancel: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            // Dispatch receives the signal only if the default action, which ends the process, is disabled.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                cancel()
                signal(number, SIG_DFL)
            }
            source.resume()
            return source
        }
    }

    /// A cancellation that may arrive before the task exists.
    private final class Cancellation: Sendable {
        private let state = Mutex((isCancelled: false, action: (@Sendable () -> Void)?.none))

        func attach(_ action: @escaping @Sendable () -> Void) {
            let isCancelled = state.withLock { state in
                state.action = action
                return state.isCancelled
            }
            if isCancelled { action() }
        }

        func cancel() {
            let action = state.withLock { state in
                state.isCancelled = true
                return state.action
            }
            action?()
        }
    }

    private func stop() {
        for source in sources { source.cancel() }
    }
}
