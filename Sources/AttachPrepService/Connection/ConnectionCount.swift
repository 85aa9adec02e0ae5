import Synchronization

/// How many connections there are.
final class ConnectionCount: Sendable {
    let limit: Int
    private let open = Atomic(0)

    init(limit: Int) {
        self.limit = limit
    }

    var current: Int { open.load(ordering: .relaxed) }

    /// Counts one more; false when it is one too many, which is counted as well until it is closed.
    func begin() -> Bool {
        open.wrappingAdd(1, ordering: .relaxed).newValue <= limit
    }

    func end() {
        open.wrappingSubtract(1, ordering: .relaxed)
    }
}
