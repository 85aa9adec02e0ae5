import Glibc
import Linux
import Synchronization
import Testing

struct DedicatedThreadTests {
    /// Signals that a new thread does not block.
    private func unblockedSignals() async throws -> Set<CInt> {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try DedicatedThread.start(name: "signals") {
                    var blocked = sigset_t()
                    pthread_sigmask(SIG_BLOCK, nil, &blocked)
                    continuation.resume(returning: Set((1...31).filter { sigismember(&blocked, $0) == 0 }))
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    @Test func `Crash signals are delivered on a dedicated thread, other signals on the main thread`() async throws {
        let unblocked = try await unblockedSignals()
        #expect(unblocked.isSuperset(of: [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS]))
        #expect(unblocked.isDisjoint(with: [SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1]))
    }

    @Test func `A joined thread has run to its end`() throws {
        let count = Mutex(0)
        let thread = try JoinableThread(name: "count") { for _ in 0..<100_000 { count.withLock { $0 += 1 } } }
        thread.join()
        #expect(count.withLock { $0 } == 100_000)
    }
}
