import Dispatch
import Glibc
import Synchronization

/// Runs asynchronous work from the synchronous body of a target, which libFuzzer calls on its only thread.
public enum Waiting {
    private final class Slot<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
        let done = DispatchSemaphore(value: 0)
    }

    /// Runs `body` and waits for its result.
    public static func result<Value: Sendable>(of body: @escaping @Sendable () async -> Value) -> Value {
        let slot = Slot<Value>()
        Task {
            let value = await body()
            slot.value.withLock { $0 = value }
            slot.done.signal()
        }
        slot.done.wait()
        guard let value = slot.value.withLock({ $0 }) else { Invariant.broken("finished work has a value") }
        return value
    }
}

/// Counts open descriptors: a leak is detected after some thousand inputs.
public struct DescriptorCount {
    private var inputs = 0
    private var first: Int?
    /// The allowed growth: threads that have not ended yet hold some descriptors.
    private let slack: Int

    public init(slack: Int = 400) {
        self.slack = slack
    }

    /// Counts descriptors at every 500th call.
    public mutating func check() {
        inputs += 1
        guard inputs % 500 == 0 else { return }
        let count = Self.now
        guard let first else {
            first = count
            return
        }
        Invariant.hold(count <= first + slack, "descriptors do not leak: \(first) open at first, \(count) now")
    }

    private static var now: Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }
}
