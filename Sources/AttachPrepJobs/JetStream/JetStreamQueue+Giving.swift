import Logging
import NATS
import RichPush
import SafeArithmetic

/// A job that a worker is to have, as it will be then.
private struct Offer: Sendable {
    var delivery: LaneDelivery
    var job: KeptJob
    /// Of the job as it is now.
    var revision: UInt64
}

extension JetStreamQueue {
    /// Gives jobs to a worker: those that nobody else has taken or changed meanwhile, and whose key nobody else has
    /// begun to work on before.
    func give(_ found: [(delivery: LaneDelivery, job: KnownJob)], _ wish: ClaimWish) async throws -> [ClaimedJob] {
        guard !found.isEmpty else { return [] }
        let moment = clock.now()
        let offers = found.compactMap { delivery, job in
            let token = Int64.random(in: 1 ... .max)
            return job.value.claimed(by: wish.worker, token: token, at: moment.wall).map {
                Offer(delivery: delivery, job: $0, revision: job.revision)
            }
        }
        let taken = try await take(offers, for: wish.lease, at: moment)
        for one in taken {
            conflicts.moved(one.delivery.job)
            held.add(one)
            // The servers were told to give it to others later.
            if one.delivery.isRemembered { stream.tell(one.delivery.reply, .inProgress) }
        }
        try await mirror.take(taken.map(\.job), at: moment)
        return try await settle(taken).compactMap(claimed)
    }

    /// Changes offers into jobs that run.
    private func take(
        _ offers: [Offer], for lease: Duration, at moment: StoreMoment
    ) async throws -> [HeldJobs.Held] {
        let answers = try await make(offers.map { ($0.job, $0.revision) })
        var taken: [HeldJobs.Held] = []
        var fault: (any Error)?
        for (offer, answer) in zip(offers, answers) {
            switch answer {
            case .success(let job?):
                taken.append(
                    HeldJobs.Held(
                        job: job, delivery: offer.delivery, until: moment.steady.adding(clamping: lease.milliseconds)))
            case .success(nil): refuse(offer, at: moment)
            case .failure(let error): fault = error
            }
        }
        if let fault, taken.isEmpty { throw fault }
        return taken
    }

    /// A job that somebody changed while it was being claimed, or whose changes we have not heard of as they are.
    private func refuse(_ offer: Offer, at moment: StoreMoment) {
        let id = offer.delivery.job
        let decision = conflicts.refused(id, at: moment.steady)
        stream.tell(offer.delivery.reply, .later(.milliseconds(clamping: Int(clamping: decision.pauseMilliseconds))))
        guard decision.isLogged else { return }
        logger.warning(
            """
            the NATS servers refuse to let a job be claimed with the revision that they show; it is read from the \
            stream's leader from now on
            """,
            metadata: [
                "job": "\(id)", "revision": "\(offer.revision)", "stream": "\(jobs.streamName)",
                "server": "\(connection.serverAddress ?? "none")",
            ])
    }

    // MARK: One at a time for a key

    /// Steps back from jobs whose key somebody else had begun to work on before: the order of changes in the bucket is
    /// the same for all machines, and who has heard of all that came before his own change knows whether he was first.
    ///
    /// - Returns: those that go on.
    private func settle(_ taken: [HeldJobs.Held]) async throws -> [HeldJobs.Held] {
        // Heard of by the mirror, unless that took too long: then two may do the same work, which costs a download.
        let late = try await mirror.late(taken.map { ($0.job.value, $0.job.revision) })
        for one in taken where late.contains(one.job.value.id) { try await stepBack(from: one) }
        return taken.filter { !late.contains($0.job.value.id) }
    }

    private func stepBack(from one: HeldJobs.Held) async throws {
        let (token, now) = (one.token, clock.now().wall)
        let job = try await change(one.job.value.id, from: one.job) { $0.released(under: token, at: now) }
        held.remove(JobLease(job: one.delivery.job, token: token))
        guard let job else { return }
        guard job.value.state == .queued else { return await conclude(one.delivery, job) }
        putOff(
            one.delivery, .room(host: job.value.host, key: job.value.key),
            milliseconds: LaneClaim.roomMilliseconds(one.delivery.count))
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
