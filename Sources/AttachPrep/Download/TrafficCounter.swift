internal import Synchronization

/// Counts what comes in over all transfers.
final class TrafficCounter: Sendable {
    private let count = Atomic(0)

    var bytes: Int { count.load(ordering: .relaxed) }

    func add(_ bytes: Int) {
        count.add(bytes, ordering: .relaxed)
    }
}
