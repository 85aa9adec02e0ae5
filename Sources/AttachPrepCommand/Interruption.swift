import Dispatch
import Glibc
import Synchronization

/// Ctrl-C and SIGTERM: the first cancels the work, which then cleans up; the second ends the process at once.
struct Interruption {
    private let sources: [any DispatchSourceSignal]

    /// Runs work until it is done or cancelled by a signal.
    static func watch<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) async -> Result {
        // The signals are watched before the work begins: one that came between would end the process unclean.
        let cancellation = Cancellation()
        let interruption = Interruption { cancellation.cancel() }
        defer { interruption.stop() }
        let task = Task(name: "work") { await work() }
        cancellation.attach { task.cancel() }
        return await task.value
    }

    /// Does work that ends by a signal as it would without this, but for what is cleaned up before.
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
            // Dispatch sees the signal only when its default action does not end the process first.
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

    /// A cancellation that may come before there is something to cancel.
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
