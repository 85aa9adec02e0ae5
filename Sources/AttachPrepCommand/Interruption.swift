import Dispatch
import Glibc

/// Ctrl-C and SIGTERM: the first cancels the work, which then cleans up; the second ends the process at once.
struct Interruption {
    private let sources: [any DispatchSourceSignal]

    /// Runs work until it is done or cancelled by a signal.
    static func watch<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) async -> Result {
        let task = Task(name: "work") { await work() }
        let interruption = Interruption { task.cancel() }
        defer { interruption.stop() }
        return await task.value
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

    private func stop() {
        for source in sources { source.cancel() }
    }
}
