import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What may happen to a job: pure. Each gives the job as it is afterwards, or nil when that cannot happen to it now.
extension KeptJob {
    func claimed(by worker: String, token: Int64, at now: Int64) -> KeptJob? {
        guard state == .queued else { return nil }
        var job = self
        job.state = .running
        job.batch = nil
        job.attempts = attempts.adding(clamping: 1)
        job.startedAt = now
        job.wait = JobWait.none.rawValue
        job.token = token
        job.worker = worker
        return job
    }

    /// Whether it is running under that lease.
    func runs(under token: Int64) -> Bool { state == .running && self.token == token }

    func ended(_ end: EndedJob, notice: KeptNotice?, under token: Int64, at now: Int64) -> KeptJob? {
        guard runs(under: token) else { return nil }
        var job = self
        job.finish(end.state, at: now)
        job.result = end.result
        if end.state != .cancelled { job.error = end.error }
        job.errorCode = end.errorCode
        job.media = end.media?.text
        job.add(notice)
        return job
    }

    func postponed(
        until date: Int64, error: String, code: String, isAttempt: Bool = true, under token: Int64, at now: Int64
    ) -> KeptJob? {
        guard runs(under: token) else { return nil }
        var job = self
        if !isAttempt { job.takeBackAttempt() }
        job.dueAt = date
        job.wait = JobWait.backOff.rawValue
        job.error = error
        job.errorCode = code
        job.putBack(at: now)
        return job
    }

    func released(under token: Int64, at now: Int64) -> KeptJob? {
        guard runs(under: token) else { return nil }
        var job = self
        job.dueAt = min(dueAt, now)
        job.takeBackAttempt()
        job.putBack(at: now)
        return job
    }

    /// As if it had not been claimed.
    private mutating func takeBackAttempt() {
        attempts = attempts.subtracting(clamping: 1)
        if attempts <= 0 { startedAt = nil }
    }

    /// Its worker is gone. A first loss costs no time; from the second on the job may be what ends its workers, and
    /// waits longer each time.
    func lost(at now: Int64) -> KeptJob? {
        guard state == .running else { return nil }
        var job = self
        if losses == 0 {
            job.dueAt = min(dueAt, now)
        } else {
            // Bounded: at most 20 steps, of a number that the queue may hold.
            let wait = Int64(Limits.lossBackOffSeconds * 1000) << Int64(min(max(losses, 1) - 1, 20))
            // Bounded: a product of our own limits and settings.
            job.dueAt = now.adding(clamping: min(Int64(Limits.lossBackOffSecondsMax * 1000), wait))
            job.wait = JobWait.backOff.rawValue
        }
        job.losses = losses.adding(clamping: 1)
        job.lostBy = worker
        job.putBack(at: now)
        return job
    }

    /// A worker says at its next start that it crashed: the job was in flight, or was taken back from it as lost since.
    func crashed(_ crashedWorker: String, at now: Int64) -> KeptJob? {
        var job = self
        if state == .running, worker == crashedWorker {
            job.countCrash()
            let wait = CrashPolicy.backOffMilliseconds(crashes: job.crashes ?? 1)
            job.dueAt = now.adding(clamping: wait)
            job.wait = JobWait.backOff.rawValue
            job.putBack(at: now)
            return job
        }
        guard lostBy == crashedWorker, !state.isFinished else { return nil }
        job.countCrash()
        job.losses = max(0, losses.subtracting(clamping: 1))
        job.lostBy = nil
        return job
    }

    private mutating func countCrash() {
        crashes = min(max(crashes ?? 0, 0), CrashPolicy.crashesMax - 1) + 1  // Bounded: constants of ours.
    }

    /// Whether nothing else runs in the process that has it.
    var isAlone: Bool { CrashPolicy.verdict(crashes: crashes ?? 0, losses: losses) != .runs }

    func calledOff(at now: Int64) -> KeptJob? {
        var job = self
        switch state {
        case .queued: job.cancel(at: now)
        case .running: job.isCancelling = true
        default: return nil
        }
        return job
    }

    func retried(at now: Int64) -> KeptJob? {
        guard state.isRetryable else { return nil }
        var job = self
        job.state = .queued
        (job.attempts, job.losses) = (0, 0)
        (job.crashes, job.lostBy) = (nil, nil)
        (job.result, job.error, job.errorCode, job.media) = (nil, nil, nil, nil)
        (job.startedAt, job.finishedAt) = (nil, nil)
        (job.token, job.worker) = (nil, nil)
        job.dueAt = now
        job.wait = JobWait.none.rawValue
        return job
    }

    // MARK: Their common parts

    /// Back into the queue, or to its end when it was called off meanwhile.
    private mutating func putBack(at now: Int64) {
        if isCancelling { return cancel(at: now) }
        state = .queued
        (token, worker) = (nil, nil)
    }

    /// Ends as nobody wants it any more; its caller is told, at an address that is wiped with this.
    private mutating func cancel(at now: Int64) {
        if request.contains("\"callbackURL\""), let job = try? claimed(),
            let notice = WebhookNotice(for: job, .cancelled, at: nil, date: Date(milliseconds: now))
        {
            add(KeptNotice(notice, at: now))
        }
        finish(.cancelled, at: now)
    }

    /// The token stays, so that who ended it knows it again when the answer was lost.
    private mutating func finish(_ end: JobState, at now: Int64) {
        state = end
        finishedAt = now
        isCancelling = false
        worker = nil
        batch = nil
        if end == .succeeded || end == .cancelled, secret != nil { secret = JobSecrets.wiped }
    }
}
