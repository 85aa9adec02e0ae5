import Logging
import NATS
import RichPush
import SafeArithmetic

extension JetStreamQueue {
    public func claim(
        _ count: Int, by worker: String, lease: Duration, hostLimit: Int
    ) async throws -> [ClaimedJob] {
        try await named { () async throws -> [ClaimedJob] in
            // A pull that is not sent is not answered either: its end would not say why.
            if let refusal = connection.refusal { throw refusal }
            run.note(worker: worker)
            let wish = ClaimWish(worker: worker, lease: lease, hostLimit: hostLimit)
            return try await desk.claim(count, wish) { [self] wish, count in
                var claim = LaneClaim(self, wish)
                return try await claim.run(count)
            }
        }
    }

    /// What becomes of a message.
    ///
    /// - Parameter known: what the mirror has of its job.
    /// - Returns: the job, when it can be claimed.
    func examine(_ delivery: LaneDelivery, _ known: KnownJob?) async throws -> KnownJob? {
        let found: KnownJob?
        do {
            found = try await current(delivery.job, known)
        } catch let error as AttachPrepError {
            // One bad value must not stop the others; a later version may be able to read it.
            logger.error(
                "a job's value cannot be read; it is passed over",
                metadata: ["job": "\(delivery.job)", "error": "\(error)"])
            if !delivery.isRemembered { stream.tell(delivery.reply, .later(Self.unreadablePause)) }
            return nil
        }
        let isHeld = held.held(delivery.job).map { $0.token == found?.value.token } ?? false
        let decision = LaneDecision(
            found, delivery, isHeld: isHeld, leaseMilliseconds: lease.milliseconds, at: clock.now())
        if decision != .offer { conflicts.forget(delivery.job) }
        switch decision {
        case .offer: return found
        case .wait(let until, let milliseconds): putOff(delivery, until, milliseconds: milliseconds)
        // Somebody else was given it meanwhile, and it is his.
        case .askAgain where delivery.isRemembered: break
        case .askAgain(let milliseconds):
            stream.tell(delivery.reply, .later(.milliseconds(clamping: Int(clamping: milliseconds))))
        case .adopt: held.adopt(delivery)
        case .done: await conclude(delivery, found)
        case .lost where delivery.isRemembered: break
        case .lost: try await takeBack(delivery, found)
        }
        return nil
    }

    /// A job as it was heard of last; as the stream's leader has it when claims by what was heard are refused.
    private func current(_ id: JobID, _ known: KnownJob?) async throws -> KnownJob? {
        guard conflicts.readsLeader(id) else {
            if let known { return known }
            return try await fetch(id.text)
        }
        let found = try await fetch(id.text)
        if found?.revision != known?.revision { try await mirror.correct(id.text, found, at: clock.now()) }
        return found
    }

    /// A value that cannot be read is looked at again after that.
    private static let unreadablePause = Duration.seconds(60)

    /// Says that a job's message is done with, once all that follows from its end is done.
    func conclude(_ delivery: LaneDelivery, _ job: KnownJob?) async {
        waiting.forget(delivery.job)
        if let job, job.value.state == .dead, await !writeDeadLetter(job.value) { return }
        stream.tell(delivery.reply, .done)
    }

    /// - Returns: false when it could not be written: the message comes again.
    private func writeDeadLetter(_ job: KeptJob) async -> Bool {
        do {
            let letter = Array(try StoredJSON.text(try job.job()).utf8)
            try await stream.publish(OutgoingMessage(names.deadLetterSubject(job.id), letter).after(0))
            return true
        } catch {
            logger.warning("a dead letter could not be written", metadata: ["job": "\(job.id)", "error": "\(error)"])
            return false
        }
    }

    // MARK: Jobs of workers that are gone

    /// Takes back this machine's own leases that ran out.
    func takeBackExpired() async throws {
        for held in held.expired(at: clock.now().steady) {
            let token = held.token
            let lease = JobLease(job: held.delivery.job, token: token)
            let now = clock.now().wall
            let lost = try await change(held.job.value.id, from: held.job) { job in
                job.runs(under: token) ? job.lost(at: now) : nil
            }
            self.held.remove(lease)
            if let lost { await returned(held.delivery, lost) }
        }
    }

    /// Another machine's.
    private func takeBack(_ delivery: LaneDelivery, _ job: KnownJob?) async throws {
        guard let job, let token = job.value.token else { return }
        let now = clock.now().wall
        let lost = try await change(job.value.id, from: job) { $0.runs(under: token) ? $0.lost(at: now) : nil }
        guard let lost else { return stream.tell(delivery.reply, .later(.zero)) }
        logger.notice("a job's worker is gone", metadata: ["job": "\(job.value.id)"])
        await returned(delivery, lost)
    }

    /// A job is back in the queue, or has ended because it was called off: what becomes of its message.
    func returned(_ delivery: LaneDelivery, _ job: KnownJob) async {
        let moment = clock.now()
        var delivery = delivery
        // For its last wait, not for the one to come.
        delivery.hasWaited = false
        switch LaneDecision(
            job, delivery, isHeld: false, leaseMilliseconds: lease.milliseconds, at: moment)
        {
        case .wait(let until, let milliseconds): putOff(delivery, until, milliseconds: milliseconds)
        case .offer: putOff(delivery, .now, milliseconds: Self.handOverMilliseconds)
        default: await conclude(delivery, job)
        }
    }

    /// Who took a job back may have it for so long before others are asked.
    private static let handOverMilliseconds: Int64 = 200
}
