import CLinux
import Glibc

/// A thread of our own for blocking work, which must stay off Swift's cooperative pool.
///
/// Linux: `pthread_create(3)`. Detached: it ends with its body or with the process.
package enum PermanentThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Starts a thread; the name is seen in `top -H` and cut at 15 bytes.
    package static func start(name: String, _ run: @escaping @Sendable () -> Void) throws(SystemError) {
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(Body(run)).toOpaque()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context)
        guard code == 0 else {
            unsafe Unmanaged<Body>.fromOpaque(context).release()
            throw SystemError("pthread_create", code: code)
        }
        unsafe CLinux_pthread_setname(thread, String(name.prefix(15)))
        pthread_detach(thread)
    }
}
