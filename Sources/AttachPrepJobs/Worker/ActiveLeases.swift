import SafeArithmetic
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
        /// The host of the source; nil for an upload.
        var host: String?
        /// Preparations that do not wait for their source.
        var working = 1
    }

    private let entries = Mutex<[JobLease: Entry]>([:])

    var count: Int { entries.withLock { $0.count } }
    var leases: [JobLease] { entries.withLock { Array($0.keys) } }

    /// The number of jobs that only wait for their source, by host; the key is empty for uploads.
    var waiting: [String: Int] {
        entries.withLock { entries in
            entries.values.reduce(into: [:]) { counts, entry in
                if entry.working <= 0 { counts[entry.host ?? "", default: 0] += 1 }
            }
        }
    }

    /// Counts a preparation of a job that begins or ends, or that begins or ends to wait for its source.
    ///
    /// - Returns: Whether the job only waits now.
    func change(_ lease: JobLease, working difference: Int) -> Bool {
        entries.withLock { entries in
            guard var entry = entries[lease] else { return false }
            entry.working = entry.working.adding(clamping: difference)
            entries[lease] = entry
            return entry.working <= 0
        }
    }

    func status(of lease: JobLease) -> Status { entries.withLock { $0[lease]?.status ?? .lost } }

    func contains(_ job: JobID) -> Bool { entries.withLock { $0.keys.contains { $0.job == job } } }

    /// Adds a lease and starts the work on its job.
    ///
    /// - Parameter host: The host of the source; nil for an upload.
    func begin(_ lease: JobLease, host: String? = nil, _ work: @escaping @Sendable () async -> Void) {
        // The job was claimed again, so the earlier lease was lost.
        for earlier in leases where earlier.job == lease.job { stop(earlier, .lost) }
        // Under the lock, so that the work cannot end before its entry exists.
        entries.withLock { $0[lease] = Entry(task: Task { await work() }, host: host) }
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
