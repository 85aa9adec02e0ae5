import Glibc
import Synchronization

/// Items handed from any task to one thread, which sleeps while there are none.
///
/// Linux: `sem_post(3)` never blocks, so a task may push.
// Unchecked: the semaphore is made for use by many threads, and the items stand behind their mutex.
@safe final class BlockingQueue<Item: Sendable>: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>
    private let items = Mutex<[Item]>([])

    init() {
        unsafe semaphore = .allocate(capacity: 1)
        let code = unsafe sem_init(semaphore, 0, 0)
        precondition(code == 0, "an unnamed semaphore of value 0 is always valid")
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    func push(_ item: Item) {
        items.withLock { $0.append(item) }
        let code = unsafe sem_post(semaphore)
        precondition(code == 0, "fewer items than SEM_VALUE_MAX")
    }

    func pop() -> Item {
        while unsafe sem_wait(semaphore) != 0 {}
        return items.withLock { $0.removeFirst() }
    }
}
