import Synchronization

/// The jobs that this machine's worker has, each with its lease and its message.
final class HeldJobs: Sendable {
    struct Held: Sendable {
        var job: KnownJob
        var delivery: LaneDelivery
        /// On the steady clock.
        var until: Int64

        var token: Int64 { job.value.token ?? 0 }
    }

    private let entries = Mutex<[JobID: Held]>([:])

    func add(_ held: Held) { entries.withLock { $0[held.delivery.job] = held } }

    /// Nil when the lease is not, or no longer, ours.
    func held(_ lease: JobLease) -> Held? {
        entries.withLock { $0[lease.job] }.flatMap { $0.token == lease.token ? $0 : nil }
    }

    func held(_ job: JobID) -> Held? { entries.withLock { $0[job] } }

    func remove(_ lease: JobLease) {
        entries.withLock { entries in
            if entries[lease.job]?.token == lease.token { entries[lease.job] = nil }
        }
    }

    /// A message that was given again to us stands for the one that we had.
    func adopt(_ delivery: LaneDelivery) {
        entries.withLock { $0[delivery.job]?.delivery = delivery }
    }

    func renew(_ lease: JobLease, _ job: KnownJob, until: Int64) {
        entries.withLock { entries in
            guard entries[lease.job]?.token == lease.token else { return }
            entries[lease.job]?.job = job
            entries[lease.job]?.until = until
        }
    }

    /// Those whose lease has run out.
    func expired(at steady: Int64) -> [Held] {
        entries.withLock { $0.values.filter { $0.until <= steady } }.sorted { $0.delivery.number < $1.delivery.number }
    }

    var isEmpty: Bool { entries.withLock { $0.isEmpty } }

    /// Whether one of them runs alone.
    var hasAlone: Bool { entries.withLock { $0.values.contains { $0.job.value.isAlone } } }

    /// How many jobs fetch from each host, and what is being worked on.
    func load() -> (hosts: [String: Int], keys: Set<String>) {
        entries.withLock { entries in
            var hosts: [String: Int] = [:]
            for held in entries.values { if let host = held.job.value.host { hosts[host, default: 0] += 1 } }
            return (hosts, Set(entries.values.map(\.job.value.key)))
        }
    }
}
