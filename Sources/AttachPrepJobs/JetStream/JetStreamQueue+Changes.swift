import Logging
import NATS
import RichPush
import SafeArithmetic

/// How a job is changed: by who knows how it is.
extension JetStreamQueue {
    /// What the servers have of a job; nil for nothing, or for one of a batch that is not whole.
    func fetch(_ id: String) async throws -> KnownJob? {
        guard let entry = try await jobs.entry(QueueKeys.job(id)), let bytes = entry.value else { return nil }
        let job = try KeptJob(bytes)
        if let batch = job.batch, try await !isWhole(batch) { return nil }
        return KnownJob(value: job, revision: entry.revision, heardAt: clock.now().steady)
    }

    private func isWhole(_ batch: String) async throws -> Bool {
        if try await mirror.isWhole(batch) { return true }
        return try await jobs.entry(QueueKeys.batch(batch))?.value != nil
    }

    /// Changes a job, again when somebody else did meanwhile.
    ///
    /// - Parameters:
    ///   - known: how it was when we heard of it last; nil asks the servers first.
    ///   - change: nil when it cannot happen to the job as it is.
    /// - Returns: nil when it could not happen, or there is no such job.
    /// - Throws: `queue.unavailable` when the leader refuses the very revisions that it shows.
    func change(
        _ id: String, from known: KnownJob?, _ change: (KeptJob) throws -> KeptJob?
    ) async throws -> KnownJob? {
        var (current, isFresh) = (known, false)
        var refusals = 0
        while true {
            if let job = current, let next = try change(job.value) {
                if let kept = try await make([(next, job.revision)])[0].get() {
                    try await mirror.take([kept], at: clock.now())
                    return kept
                }
                if isFresh {
                    refusals += 1  // Bounded: at most refusalsMax.
                    try await pause(afterRefusals: refusals, of: id)
                }
            } else if isFresh {
                return nil
            }
            current = try await fetch(id)
            isFresh = true
        }
    }

    /// Others may have changed the job between our reading it and our change, and then somebody has got further.
    private static let refusalsMax = 6

    private func pause(afterRefusals count: Int, of id: String) async throws {
        guard count < Self.refusalsMax else {
            logger.error(
                "the NATS servers refuse every change of a job with the revision that they show",
                metadata: ["job": "\(id)", "stream": "\(jobs.streamName)"])
            throw AttachPrepError(
                .queueUnavailable,
                "The NATS servers refuse every change of the job \(id); their copies of it may differ: see the log.")
        }
        let milliseconds = ConflictDecision(count: count).pauseMilliseconds
        try await ContinuousClock().sleep(for: .milliseconds(clamping: Int(clamping: milliseconds)))
    }

    /// Makes changes in their order, without waiting between them.
    ///
    /// - Parameter changes: jobs as they are to be, and the revisions that they follow, 0 for none.
    /// - Returns: what the mirror is to hear of; nil where a job had another revision.
    func make(_ changes: [(job: KeptJob, after: UInt64)]) async throws -> [Result<KnownJob?, any Error>] {
        let answers = await jobs.makeAll(try changes.map { try change($0.job, after: $0.after) })
        let heardAt = clock.now().steady
        return zip(changes, answers).map { change, answer in
            answer.map { revision in
                revision.map { KnownJob(value: change.job, revision: $0, heardAt: heardAt) }
            }
        }
    }

    /// What the mirror knows for ours when it comes back.
    func change(_ job: KeptJob, after revision: UInt64) throws -> KeyValueBucket.Change {
        KeyValueBucket.Change(QueueKeys.job(job.id), try mirror.own.bytes(of: job), after: revision)
    }

    /// Tells the servers not to give a job's message before that, and remembers it until then.
    func putOff(_ delivery: LaneDelivery, _ until: WaitingDeliveries.Until, milliseconds: Int64) {
        let time = Duration.milliseconds(clamping: Int(clamping: max(0, milliseconds)))
        stream.tell(delivery.reply, .later(time))
        waiting.add(delivery, until: until, for: time)
    }
}
