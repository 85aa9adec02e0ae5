import Synchronization

/// Items handed from any task to one thread, which sleeps while there are none. A task that pushes never blocks.
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
        count.take()
        return items.withLock { $0.removeFirst() }
    }

    /// As above, unless one of the descriptors has something to say first: then nil.
    package func pop(unlessReadable descriptors: [CInt]) -> Item? {
        // Should the wait fail for want of memory, the queue is waited for alone.
        let ready = (try? Readiness.wait(for: [count.descriptor] + descriptors, deadline: nil)) ?? [count.descriptor]
        return ready.contains(count.descriptor) ? pop() : nil
    }
}
