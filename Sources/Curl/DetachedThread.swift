#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Starts detached threads for blocking work; they do not keep the process from exiting.
package enum DetachedThread {
    /// Starts `body` on a new thread.
    ///
    /// Asynchronous signals are blocked on it: the main thread handles them, and a TLS library that writes to a closed
    /// socket must not end the process with SIGPIPE. Signals for faults of the thread are not blocked: they would end
    /// the process without a backtrace.
    /// - Returns: false when the system cannot create a thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let retained = unsafe Unmanaged.passRetained(ThreadBody(body))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        guard unsafe pthread_create(&thread, nil, threadMain, retained.toOpaque()) == 0 else {
            unsafe retained.release()
            return false
        }
        return true
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

#if canImport(Darwin)
    private func threadMain(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        unsafe runDetached(context)
    }
#else
    private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context = unsafe context else { return nil }
        return unsafe runDetached(context)
    }
#endif

private func runDetached(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    var blocked = sigset_t()
    // None of these calls can fail with these arguments. SIG_SETMASK instead of SIG_BLOCK, because the parent may be a
    // Dispatch thread, which blocks SIGABRT.
    _ = unsafe sigfillset(&blocked)
    for fault in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS] {
        _ = unsafe sigdelset(&blocked, fault)
    }
    _ = unsafe pthread_sigmask(SIG_SETMASK, &blocked, nil)
    _ = pthread_detach(pthread_self())
    unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
