import CLinux
import Glibc
import Synchronization

/// A queue from any number of tasks to one thread. `push` never blocks; `pop` sleeps while the queue is empty.
package final class BlockingQueue<Item: Sendable>: Sendable {
    private let count: EventCounter
    private let items = Mutex<[Item]>([])

    package init() throws {
        count = try EventCounter()
    }

    package func push(_ item: Item) {
        items.withLock { $0.append(item) }
        count.raise()
    }

    package func pop() -> Item {
        count.consume()
        return items.withLock { $0.removeFirst() }
    }

    /// The next item; nil when one of the descriptors becomes readable first.
    package func pop(unlessReadable descriptors: [CInt]) -> Item? {
        // If poll(2) fails for lack of memory, this waits for the queue only.
        let ready = (try? Readiness.wait(for: [count.descriptor] + descriptors, deadline: nil)) ?? [count.descriptor]
        return ready.contains(count.descriptor) ? pop() : nil
    }
}

/// A semaphore with a descriptor, so that a thread can wait for it together with other descriptors.
///
/// Owns its descriptor. Linux: `eventfd(2)` as a semaphore.
package final class EventCounter: Sendable {
    package let descriptor: CInt

    /// Creates a counter of 0.
    package init() throws(SystemError) {
        descriptor = CLinux_eventfd_semaphore()
        guard descriptor >= 0 else { throw SystemError("eventfd") }
    }

    deinit {
        close(descriptor)
    }

    /// Adds one; never blocks.
    package func raise() {
        var one: UInt64 = 1
        let written = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
        precondition(written == MemoryLayout<UInt64>.size, "write(2) to an eventfd failed")
    }

    /// Waits until the counter is above 0, then subtracts one.
    package func consume() {
        var one: UInt64 = 0
        while unsafe read(descriptor, &one, MemoryLayout<UInt64>.size) < 0 {
            precondition(errno == EINTR, "read(2) from an eventfd failed")
        }
    }
}

/// A thread for blocking work, which must not run on Swift's cooperative pool.
///
/// Linux: `pthread_create(3)`. Detached: it ends with its body or with the process, which may exit before it.
///
/// Asynchronous signals are blocked on it: the main thread handles them, and a TLS library that writes to a closed
/// socket must not end the process with SIGPIPE. Signals for faults of the thread are not blocked: they would end the
/// process without a backtrace.
package enum DedicatedThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Starts a thread; its name is shown by `top -H` and truncated to 15 characters.
    package static func start(name: String, _ run: @escaping @Sendable () -> Void) throws(SystemError) {
        pthread_detach(try create(name: name, run))
    }

    fileprivate static func create(
        name: String, _ run: @escaping @Sendable () -> Void
    ) throws(SystemError) -> pthread_t {
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(Body(run)).toOpaque()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                DedicatedThread.blockAsynchronousSignals()
                unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context)
        guard code == 0 else {
            unsafe Unmanaged<Body>.fromOpaque(context).release()
            throw SystemError("pthread_create", code: code)
        }
        unsafe CLinux_pthread_setname(thread, String(name.prefix(15)))
        return thread
    }

    private static func blockAsynchronousSignals() {
        var blocked = sigset_t()
        // None of these calls can fail with these arguments. SIG_SETMASK instead of SIG_BLOCK, because the parent may
        // be a Dispatch thread, which blocks SIGABRT.
        unsafe sigfillset(&blocked)
        for fault in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS] {
            unsafe sigdelset(&blocked, fault)
        }
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, nil)
    }
}

/// A `DedicatedThread` whose end another thread waits for.
///
/// Linux: `pthread_join(3)`, which needs no system call but futex(2), so that it works in the sandbox.
package struct JoinableThread: ~Copyable {
    private let thread: pthread_t

    package init(name: String, _ run: @escaping @Sendable () -> Void) throws(SystemError) {
        thread = try DedicatedThread.create(name: name, run)
    }

    deinit {
        pthread_detach(thread)
    }

    /// Waits until its body has returned.
    package consuming func join() {
        // It cannot fail: the thread is neither detached nor the calling one.
        pthread_join(thread, nil)
        discard self
    }
}
