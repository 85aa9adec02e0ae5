import AttachPrep
import NATS
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension JetStreamQueue {
    public func enqueue(
        _ submissions: [JobSubmission], idempotency: IdempotencyKey?
    ) async throws -> EnqueuedJobs {
        try await named { () async throws -> EnqueuedJobs in
            while true {
                if let taken = try await takeIn(submissions, idempotency) { return taken }
            }
        }
    }

    /// - Returns: nil when somebody else was quicker with the same key.
    private func takeIn(
        _ submissions: [JobSubmission], _ idempotency: IdempotencyKey?
    ) async throws -> EnqueuedJobs? {
        var revision: UInt64 = 0
        if let idempotency, let word = try await word(idempotency) {
            if let earlier = word.jobs { return EnqueuedJobs(jobs: earlier, areRepeated: true) }
            revision = word.revision
        }
        try checkRoom(for: submissions.count)
        let batch = idempotency == nil && submissions.count == 1 ? nil : JobID.make().text
        let date = clock.wall()
        let shown = submissions.map(\.request.shown)
        let new = try zip(submissions, shown).map { try KeptJob($0, shown: $1, batch: batch, at: date) }
        if let batch {
            guard try await keep(new, as: batch, for: idempotency, after: revision) else { return nil }
        } else {
            for job in new { try await keepOne(job) }
        }
        let jobs = zip(submissions, zip(shown, new)).map { Self.job($1.0, $1.1, $0.origin) }
        return EnqueuedJobs(jobs: jobs, areRepeated: false)
    }

    /// As everybody may see it.
    private static func job(_ request: AttachmentRequest, _ kept: KeptJob, _ origin: JobOrigin) -> Job {
        guard let id = JobID(kept.id) else { preconditionFailure("it was made by us") }
        var job = Job(id: id, state: .queued, request: request, createdAt: Date(milliseconds: kept.createdAt))
        job.origin = origin
        return job
    }

    /// - Throws: `queue.full`. What other machines take in within the same milliseconds is not seen.
    func checkRoom(for count: Int) throws {
        let queued = mirror.queuedCount
        guard queued.adding(clamping: count) <= limits.queuedJobsMax else {
            throw AttachPrepError(
                .queueFull,
                "\(queued) jobs wait already, and the queue takes \(limits.queuedJobsMax); try again later.")
        }
    }

    /// One alone: its value and its message go side by side.
    private func keepOne(_ job: KeptJob) async throws {
        let answers = await stream.publishAll([jobs.message(try change(job, after: 0)), laneMessage(job)])
        // The name is new: servers that have another value under it are not to be believed.
        guard let revision = try answers[0].get() else { throw Self.nameTaken(job) }
        let moment = clock.now()
        try await mirror.take([KnownJob(value: job, revision: revision, heardAt: moment.steady)], at: moment)
        _ = try answers[1].get()
    }

    /// A batch: its values, then what makes them jobs, then their messages. What a crash leaves behind before the
    /// second step is none; after it, the messages that are missing are made by `LaneSweep`.
    ///
    /// - Returns: false when another batch came with the same word first.
    private func keep(
        _ new: [KeptJob], as batch: String, for idempotency: IdempotencyKey?, after revision: UInt64
    ) async throws -> Bool {
        let kept: [KnownJob]
        do {
            kept = try await makeNew(new)
            if let idempotency {
                let word = KeptWord(idempotency, jobs: new.map(\.id), batch: batch, at: clock.now().wall)
                let change = KeyValueBucket.Change(QueueKeys.word(idempotency), try word.bytes(), after: revision)
                guard try await jobs.make(change) != nil else {
                    await takeBack(new)
                    return false
                }
            }
        } catch {
            await takeBack(new)
            throw error
        }
        let last = try await jobs.make(KeyValueBucket.Change(QueueKeys.batch(batch), [], after: 0))
        try await mirror.take(kept, batch: batch, until: last, at: clock.now())
        try await publish(new)
        return true
    }

    private func takeBack(_ jobs: [KeptJob]) async {
        _ = await self.jobs.makeAll(jobs.map { KeyValueBucket.Change(QueueKeys.job($0.id), nil) })
    }

    private func makeNew(_ new: [KeptJob]) async throws -> [KnownJob] {
        try zip(new, try await make(new.map { ($0, 0) })).map { job, answer in
            guard let kept = try answer.get() else { throw Self.nameTaken(job) }
            return kept
        }
    }

    private static func nameTaken(_ job: KeptJob) -> NATSError {
        .unreadable(subject: QueueKeys.job(job.id), text: "a name that is new is taken")
    }

    /// Puts a message into the lane of each job that has none.
    func publish(_ jobs: [KeptJob]) async throws {
        for answer in await stream.publishAll(jobs.map(laneMessage)) { _ = try answer.get() }
    }

    private func laneMessage(_ job: KeptJob) -> OutgoingMessage {
        let lane = JobPriority.allCases.first { $0.lane == job.lane } ?? .normal
        return OutgoingMessage(names.laneSubject(lane, job.id)).after(0)
    }
}
