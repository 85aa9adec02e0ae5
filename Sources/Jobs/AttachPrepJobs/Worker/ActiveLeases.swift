import Synchronization

/// The leases that a worker holds, with their status.
///
/// Keyed by lease, not by job: a job whose lease was lost and that was claimed again has two entries for a while.
final class ActiveLeases: Sendable {
    enum Status: Sendable, Hashable {
        case held
        /// The caller cancelled the job.
        case cancelled
        /// The lease was lost; another worker may have the job.
        case lost
        /// The worker shuts down and returns the job to the queue.
        case returned
    }

    private struct Entry {
        var status = Status.held
        var task: Task<Void, Never>?
    }

    private let entries = Mutex<[JobLease: Entry]>([:])

    var count: Int { entries.withLock { $0.count } }
    var leases: [JobLease] { entries.withLock { Array($0.keys) } }

    func status(of lease: JobLease) -> Status { entries.withLock { $0[lease]?.status ?? .lost } }

    func contains(_ job: JobID) -> Bool { entries.withLock { $0.keys.contains { $0.job == job } } }

    /// Adds a lease and starts the work on its job.
    func begin(_ lease: JobLease, _ work: @escaping @Sendable () async -> Void) {
        // The job was claimed again, so the earlier lease was lost.
        for earlier in leases where earlier.job == lease.job { stop(earlier, .lost) }
        // Under the lock, so that the work cannot end before its entry exists.
        entries.withLock { $0[lease] = Entry(task: Task { await work() }) }
    }

    func end(_ lease: JobLease) {
        entries.withLock { _ = $0.removeValue(forKey: lease) }
    }

    /// Sets the status of a held lease and cancels its work; an earlier status is kept.
    func stop(_ lease: JobLease, _ status: Status) {
        let task = entries.withLock { entries -> Task<Void, Never>? in
            guard var entry = entries[lease], entry.status == .held else { return nil }
            entry.status = status
            entries[lease] = entry
            return entry.task
        }
        task?.cancel()
    }
}
