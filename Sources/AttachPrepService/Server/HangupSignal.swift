import Dispatch
import Glibc

/// SIGHUP, which asks a service to read its files again.
struct HangupSignal {
    private let source: any DispatchSourceSignal

    init(_ action: @escaping @Sendable () -> Void) {
        // Dispatch sees the signal only when its default action does not end the process first.
        signal(SIGHUP, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        source.setEventHandler { action() }
        source.resume()
    }

    func stop() { source.cancel() }
}
