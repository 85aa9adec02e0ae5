import Synchronization

/// The jobs that a worker holds leases on, and how each of them stands.
///
/// By lease, not by job: one that was lost and claimed anew is two for a while.
final class JobsInHand: Sendable {
    enum Standing: Sendable, Hashable {
        case held
        /// Called off by its caller.
        case cancelled
        /// Somebody else has it.
        case lost
        /// The worker leaves: it goes back into the queue.
        case returned
    }

    private struct Entry {
        var standing = Standing.held
        var task: Task<Void, Never>?
    }

    private let entries = Mutex<[JobLease: Entry]>([:])

    var count: Int { entries.withLock { $0.count } }
    var leases: [JobLease] { entries.withLock { Array($0.keys) } }

    func standing(of lease: JobLease) -> Standing { entries.withLock { $0[lease]?.standing ?? .lost } }

    func contains(_ job: JobID) -> Bool { entries.withLock { $0.keys.contains { $0.job == job } } }

    /// Takes one in, and begins work on it.
    func begin(_ lease: JobLease, _ work: @escaping @Sendable () async -> Void) {
        // Claimed anew, so the earlier lease on it was lost.
        for former in leases where former.job == lease.job { stop(former, .lost) }
        // Under the lock, so that the work cannot end before it is known.
        entries.withLock { $0[lease] = Entry(task: Task { await work() }) }
    }

    /// Lets go of one whose work is over.
    func end(_ lease: JobLease) {
        entries.withLock { _ = $0.removeValue(forKey: lease) }
    }

    /// Notes that one is not worked on any longer, and cancels the work; what was noted first stays.
    func stop(_ lease: JobLease, _ standing: Standing) {
        let task = entries.withLock { entries -> Task<Void, Never>? in
            guard var entry = entries[lease], entry.standing == .held else { return nil }
            entry.standing = standing
            entries[lease] = entry
            return entry.task
        }
        task?.cancel()
    }
}
