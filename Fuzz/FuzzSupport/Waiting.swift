import Dispatch
import Glibc
import Synchronization

/// Asynchronous work in a target whose body is not: libFuzzer calls it on its one thread.
public enum Waiting {
    private final class Slot<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
        let done = DispatchSemaphore(value: 0)
    }

    /// Runs it to its end.
    public static func result<Value: Sendable>(of body: @escaping @Sendable () async -> Value) -> Value {
        let slot = Slot<Value>()
        Task {
            let value = await body()
            slot.value.withLock { $0 = value }
            slot.done.signal()
        }
        slot.done.wait()
        guard let value = slot.value.withLock({ $0 }) else { Invariant.broken("work that is done has a value") }
        return value
    }
}

/// Descriptors that are open: a leak shows after some thousand inputs.
public struct DescriptorCount {
    private var inputs = 0
    private var first: Int?
    /// How many more than at the beginning are none to worry about: threads that end a little later hold some.
    private let slack: Int

    public init(slack: Int = 400) {
        self.slack = slack
    }

    /// Counts every 500th time.
    public mutating func check() {
        inputs += 1
        guard inputs % 500 == 0 else { return }
        let count = Self.now
        guard let first else {
            first = count
            return
        }
        Invariant.hold(count <= first + slack, "no descriptor is left open: \(first) were, \(count) are")
    }

    private static var now: Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }
}
