import Synchronization

/// How many phones there may be at a time; more are hung up on.
public final class ConnectionCount: Sendable {
    private let max: Int
    private let open = Mutex(0)

    public init(max: Int) {
        self.max = max
    }

    func begin() -> Bool {
        open.withLock { count in
            guard count < max else { return false }
            count += 1
            return true
        }
    }

    func end() {
        open.withLock { $0 -= 1 }
    }
}
