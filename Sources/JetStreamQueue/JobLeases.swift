public import AttachPrepJobs
public import AttachPrepModel
public import FoundationEssentials
import NATS
import RichPush
import SQLiteQueue
import SafeArithmetic
import Synchronization

extension NATSJobQueue {
    public func extend(_ leases: [JobLease], by lease: Duration) async throws -> [JobID: LeaseStatus] {
        guard connection.isConnected else {
            failedRenewals.record(at: clock.now().steady, lease: lease.milliseconds)
            throw QueueErrorMapping.error(connection.versionError ?? NATSError.disconnected)
        }
        let lookup = try await mirror.lookup(leases.map(\.job.text))
        let until = clock.now().steady.adding(clamping: lease.milliseconds)
        var statuses: [JobID: LeaseStatus] = [:]
        for one in leases {
            statuses[one.job] = renew(one, until: until, latest: lookup.jobs[one.job.text])
        }
        return statuses
    }

    private func renew(_ lease: JobLease, until: Int64, latest: VersionedJob?) -> LeaseStatus {
        guard let entry = held.held(lease) else { return .lost }
        let job = latest.flatMap { $0.revision > entry.job.revision ? $0 : nil } ?? entry.job
        guard job.value.isRunning(under: lease.token) else {
            held.remove(lease)
            return .lost
        }
        held.renew(lease, job, until: until)
        stream.acknowledge(entry.delivery.reply, .inProgress)
        return job.value.isCancelling ? .cancelled : .held
    }

    public func finish(_ lease: JobLease, _ ending: JobCompletion, notice: WebhookNotice?) async throws -> Bool {
        let now = clock.now().wall
        let (end, note) = (try EncodedCompletion(ending), notice.map { StoredNotice($0, at: now) })
        return try await mapError {
            let ended = try await endLease(lease) { $0.ended(end, notice: note, under: lease.token, at: now) }
            guard let (delivery, job) = ended else { return false }
            await completeDelivery(delivery, job)
            return true
        }
    }

    public func postpone(
        _ lease: JobLease, until date: Date, error: ManifestError, isAttempt: Bool
    ) async throws -> Bool {
        let (text, now) = (try StoredJSON.text(error), clock.now().wall)
        return try await mapError {
            let result = try await endLease(lease) { job in
                job.postponed(
                    until: date.milliseconds, error: text, code: error.code.rawValue, isAttempt: isAttempt,
                    under: lease.token, at: now)
            }
            guard let (delivery, job) = result else { return false }
            await requeued(delivery, job)
            return true
        }
    }

    public func release(_ leases: [JobLease]) async throws {
        let now = clock.now().wall
        try await mapError {
            for lease in leases {
                let result = try await endLease(lease) { $0.released(under: lease.token, at: now) }
                guard let (delivery, job) = result else { continue }
                if job.value.state == .queued {
                    deferDelivery(delivery, .now, milliseconds: 0)
                } else {
                    await completeDelivery(delivery, job)
                }
            }
        }
    }

    /// Stores the change that ends a lease.
    ///
    /// - Returns: Nil when the lease was lost and nothing has changed.
    private func endLease(
        _ lease: JobLease, _ change: (StoredJob) throws -> StoredJob?
    ) async throws -> (LaneDelivery, VersionedJob)? {
        guard let entry = held.held(lease) else { return nil }
        let changed = try await self.change(entry.job.value.id, from: entry.job, change)
        let job = if let changed { changed } else { try await ended(lease) }
        // The message may have been redelivered to this machine meanwhile.
        let delivery = held.held(lease)?.delivery ?? entry.delivery
        held.remove(lease)
        if job != nil { conflicts.progressed(lease.job) }
        return job.map { (delivery, $0) }
    }

    /// The job if this lease has already ended it and the answer to that change was lost.
    private func ended(_ lease: JobLease) async throws -> VersionedJob? {
        let job = try await fetch(lease.job.text)
        return job.flatMap { $0.value.state.isFinished && $0.value.token == lease.token ? $0 : nil }
    }
}

/// The leases that this machine holds, each with its job and message.
final class HeldLeases: Sendable {
    struct Entry: Sendable {
        var job: VersionedJob
        var delivery: LaneDelivery
        /// When the lease expires, in milliseconds of the steady clock.
        var until: Int64

        var token: Int64 { job.value.token ?? 0 }
    }

    private let entries = Mutex<[JobID: Entry]>([:])

    func add(_ held: Entry) { entries.withLock { $0[held.delivery.job] = held } }

    /// The entry of a lease; nil when this machine does not, or no longer, hold it.
    func held(_ lease: JobLease) -> Entry? {
        entries.withLock { $0[lease.job] }.flatMap { $0.token == lease.token ? $0 : nil }
    }

    func held(_ job: JobID) -> Entry? { entries.withLock { $0[job] } }

    func remove(_ lease: JobLease) {
        entries.withLock { entries in
            if entries[lease.job]?.token == lease.token { entries[lease.job] = nil }
        }
    }

    /// Replaces the message of a held job by its redelivery.
    func redelivered(_ delivery: LaneDelivery) {
        entries.withLock { $0[delivery.job]?.delivery = delivery }
    }

    func renew(_ lease: JobLease, _ job: VersionedJob, until: Int64) {
        entries.withLock { entries in
            guard entries[lease.job]?.token == lease.token else { return }
            entries[lease.job]?.job = job
            entries[lease.job]?.until = until
        }
    }

    /// The expired leases, in stream order.
    func expired(at steady: Int64) -> [Entry] {
        entries.withLock { $0.values.filter { $0.until <= steady } }
            .sorted { $0.delivery.sequence < $1.delivery.sequence }
    }

    /// The number of held jobs per host, and the work keys of all held jobs.
    func load() -> (hosts: [String: Int], keys: Set<String>) {
        entries.withLock { entries in
            var hosts: [String: Int] = [:]
            for held in entries.values { if let host = held.job.value.host { hosts[host, default: 0] += 1 } }
            return (hosts, Set(entries.values.map(\.job.value.key)))
        }
    }
}
