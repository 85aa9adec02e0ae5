import Synchronization

/// Counts the children of a pool that others took the place of; its workers' threads count side by side.
final class ReplacementCounter: Sendable {
    private let counts = Mutex(ChildReplacements())

    var replacements: ChildReplacements { counts.withLock { $0 } }

    func countFailed() { counts.withLock { $0.failed += 1 } }
    func countRecycled() { counts.withLock { $0.recycled += 1 } }
}
