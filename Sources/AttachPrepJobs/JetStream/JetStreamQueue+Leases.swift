import NATS
public import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension JetStreamQueue {
    public func extend(_ leases: [JobLease], by lease: Duration) async throws -> [JobID: LeaseStanding] {
        guard connection.isConnected else { throw QueueFault.error(connection.refusal ?? NATSError.disconnected) }
        let look = try await mirror.look(leases.map(\.job.text))
        let until = clock.now().steady.adding(clamping: lease.milliseconds)
        var standings: [JobID: LeaseStanding] = [:]
        for one in leases {
            standings[one.job] = renew(one, until: until, heard: look.jobs[one.job.text])
        }
        return standings
    }

    private func renew(_ lease: JobLease, until: Int64, heard: KnownJob?) -> LeaseStanding {
        guard let had = held.held(lease) else { return .lost }
        let job = heard.flatMap { $0.revision > had.job.revision ? $0 : nil } ?? had.job
        guard job.value.runs(under: lease.token) else {
            held.remove(lease)
            return .lost
        }
        held.renew(lease, job, until: until)
        stream.tell(had.delivery.reply, .inProgress)
        return job.value.isCancelling ? .cancelled : .held
    }

    public func finish(_ lease: JobLease, _ ending: JobEnding, notice: WebhookNotice?) async throws -> Bool {
        let now = clock.now().wall
        let (end, note) = (try EndedJob(ending), notice.map { KeptNotice($0, at: now) })
        return try await named {
            let ended = try await leave(lease) { $0.ended(end, notice: note, under: lease.token, at: now) }
            guard let (delivery, job) = ended else { return false }
            await conclude(delivery, job)
            return true
        }
    }

    public func postpone(
        _ lease: JobLease, until date: Date, error: ManifestError, isAttempt: Bool
    ) async throws -> Bool {
        let (text, now) = (try StoredJSON.text(error), clock.now().wall)
        return try await named {
            let put = try await leave(lease) { job in
                job.postponed(
                    until: date.milliseconds, error: text, code: error.code.rawValue, isAttempt: isAttempt,
                    under: lease.token, at: now)
            }
            guard let (delivery, job) = put else { return false }
            await returned(delivery, job)
            return true
        }
    }

    public func release(_ leases: [JobLease]) async throws {
        let now = clock.now().wall
        try await named {
            for lease in leases {
                let put = try await leave(lease) { $0.released(under: lease.token, at: now) }
                guard let (delivery, job) = put else { continue }
                if job.value.state == .queued {
                    putOff(delivery, .now, milliseconds: 0)
                } else {
                    await conclude(delivery, job)
                }
            }
        }
    }

    /// Makes the change that ends a lease.
    ///
    /// - Returns: nil when the lease was lost: then nothing has changed.
    private func leave(
        _ lease: JobLease, _ change: (KeptJob) throws -> KeptJob?
    ) async throws -> (LaneDelivery, KnownJob)? {
        guard let had = held.held(lease) else { return nil }
        let changed = try await self.change(had.job.value.id, from: had.job, change)
        let job = if let changed { changed } else { try await ended(lease) }
        // A message that was given again to us meanwhile stands for it.
        let delivery = held.held(lease)?.delivery ?? had.delivery
        held.remove(lease)
        if job != nil { conflicts.moved(lease.job) }
        return job.map { (delivery, $0) }
    }

    /// A job that this lease has ended, though the answer was lost.
    private func ended(_ lease: JobLease) async throws -> KnownJob? {
        let job = try await fetch(lease.job.text)
        return job.flatMap { $0.value.state.isFinished && $0.value.token == lease.token ? $0 : nil }
    }
}
