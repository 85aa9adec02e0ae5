#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Something to wait for without looking: rung before it is waited for, it does not wait.
@safe final class LoopAlarm: @unchecked Sendable {
    // Sendable because the mutex guards the flag, and the condition belongs to it.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var hasRung = false

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        let isReady = unsafe pthread_mutex_init(mutex, nil) == 0 && pthread_cond_init(condition, nil) == 0
        precondition(isReady, "a plain mutex and a plain condition need no resources that could be missing")
    }

    deinit {
        // Nobody waits any more: neither can fail.
        _ = unsafe pthread_cond_destroy(condition)
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    func ring() {
        withLock {
            hasRung = true
            _ = unsafe pthread_cond_signal(condition)
        }
    }

    func wait() {
        withLock {
            while !hasRung { _ = unsafe pthread_cond_wait(condition, mutex) }
            hasRung = false
        }
    }

    /// Neither call fails on a mutex that is there and is not locked twice.
    private func withLock(_ body: () -> Void) {
        _ = unsafe pthread_mutex_lock(mutex)
        defer { _ = unsafe pthread_mutex_unlock(mutex) }
        body()
    }
}
