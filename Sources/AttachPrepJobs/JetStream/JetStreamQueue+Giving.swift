import Logging
import NATS
import RichPush

/// A job that a worker is to have, as it will be then.
private struct Offer: Sendable {
    var delivery: LaneDelivery
    var job: KeptJob
    /// Of the job as it is now.
    var revision: UInt64
    /// Of the claim on its key.
    var work: UInt64 = 0

    var holder: WorkClaims.Holder { WorkClaims.Holder(job: job.id, token: job.token ?? 0) }
}

extension JetStreamQueue {
    /// Gives jobs to a worker: those whose key nobody works on, and that nobody else has taken or changed meanwhile.
    func give(_ found: [(delivery: LaneDelivery, job: KnownJob)], _ wish: ClaimWish) async throws -> [ClaimedJob] {
        let moment = clock.now()
        let offers = try await reserve(
            found.compactMap { delivery, job in
                let token = Int64.random(in: 1 ... .max)
                return job.value.claimed(by: wish.worker, token: token, at: moment.wall).map {
                    Offer(delivery: delivery, job: $0, revision: job.revision)
                }
            })
        let changes = try offers.map { offer in
            KeyValueBucket.Change(QueueKeys.job(offer.job.id), try offer.job.bytes(), after: offer.revision)
        }
        let answers = zip(changes, await jobs.makeAll(changes))
        var taken: [HeldJobs.Held] = []
        var fault: (any Error)?
        for (offer, (change, answer)) in zip(offers, answers) {
            switch answer {
            case .success(let revision?):
                let job = KnownJob(
                    value: offer.job, revision: revision, heardAt: moment.steady, bytes: change.value)
                taken.append(
                    HeldJobs.Held(
                        job: job, delivery: offer.delivery, until: moment.steady + wish.lease.milliseconds,
                        work: offer.work))
            case .success(nil):
                work.end(offer.work)
                stream.tell(offer.delivery.reply, .later(Self.changedPause))
            case .failure(let error): fault = error
            }
        }
        if let fault, taken.isEmpty { throw fault }
        hold(taken)
        try await mirror.take(taken.map(\.job), at: moment)
        return taken.compactMap(claimed)
    }

    /// A job that somebody changed while it was being claimed is looked at again after that.
    private static let changedPause = Duration.milliseconds(100)

    private func hold(_ taken: [HeldJobs.Held]) {
        for one in taken {
            held.add(one)
            // The servers were told to give it to others later.
            if one.delivery.isRemembered { stream.tell(one.delivery.reply, .inProgress) }
        }
    }

    /// Claims the keys of jobs; those whose key somebody else works on are put off.
    private func reserve(_ offers: [Offer]) async throws -> [Offer] {
        let revisions = try await work.claim(offers.map { ($0.job.key, $0.holder) }, isAtWork: isAtWork)
        return zip(offers, revisions).compactMap { offer, revision in
            guard let revision else {
                putOff(
                    offer.delivery, .room(host: offer.job.host, key: offer.job.key),
                    milliseconds: LaneClaim.roomMilliseconds(offer.delivery.count))
                return nil
            }
            var offer = offer
            offer.work = revision
            return offer
        }
    }

    /// Whether a job runs under that lease; nil when it waits, and may be about to run.
    private func isAtWork(_ holder: WorkClaims.Holder, _ asking: WorkClaims.Holder) async throws -> Bool? {
        // Its own claim of an earlier time: nobody else can be about to run it.
        if holder.job == asking.job { return false }
        let known = try await mirror.look([holder.job]).jobs[holder.job]
        let found = if let known { known } else { try await fetch(holder.job) }
        guard let found, !found.value.state.isFinished else { return false }
        return found.value.state == .queued ? nil : found.value.runs(under: holder.token)
    }

    private func claimed(_ held: HeldJobs.Held) -> ClaimedJob? {
        do {
            return try held.job.value.claimed()
        } catch {
            // One bad value must not stop the others; its lease runs out, and it comes back later each time.
            logger.error(
                "a claimed job cannot be read", metadata: ["job": "\(held.job.value.id)", "error": "\(error)"])
            return nil
        }
    }
}
