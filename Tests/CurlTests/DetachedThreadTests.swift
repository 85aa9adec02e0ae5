import Curl
import Glibc
import Testing

struct DetachedThreadTests {
    /// Signals that a new thread lets through.
    private func unblockedSignals() async -> Set<CInt> {
        await withCheckedContinuation { continuation in
            let hasStarted = DetachedThread.start {
                var blocked = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &blocked)
                continuation.resume(returning: Set((1...31).filter { sigismember(&blocked, $0) == 0 }))
            }
            if !hasStarted { continuation.resume(returning: []) }
        }
    }

    @Test func `A crash on a thread of ours can be reported, and other signals go to the main thread`() async {
        let unblocked = await unblockedSignals()
        #expect(unblocked.isSuperset(of: [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS]))
        #expect(unblocked.isDisjoint(with: [SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1]))
    }
}
