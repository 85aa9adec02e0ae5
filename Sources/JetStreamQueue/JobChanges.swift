import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Logging
import NATS
import RichPush
import SQLiteQueue
import SafeArithmetic
import Synchronization

extension NATSJobQueue {
    /// Reads a job from the servers; nil when it does not exist or its batch is incomplete.
    func fetch(_ id: String, drafts: Bool = false) async throws -> VersionedJob? {
        guard let entry = try await jobs.entry(QueueKeys.job(id)), let bytes = entry.value else { return nil }
        let job = try StoredJob(bytes)
        if !drafts, let batch = job.batch, try await !isWhole(batch) { return nil }
        return VersionedJob(value: job, revision: entry.revision, receivedAt: clock.now().steady)
    }

    private func isWhole(_ batch: String) async throws -> Bool {
        if try await mirror.isWhole(batch) { return true }
        return try await jobs.entry(QueueKeys.batch(batch))?.value != nil
    }

    /// Changes a job, retrying when another client changed it meanwhile.
    ///
    /// - Parameters:
    ///   - known: the last known version; nil reads the job from the servers first.
    ///   - change: returns the new value; nil when the change is not possible.
    /// - Returns: Nil when the change was not possible or the job does not exist.
    /// - Throws: `queue.unavailable` when the leader rejects the revisions that it returns.
    func change(
        _ id: String, from known: VersionedJob?, _ change: (StoredJob) throws -> StoredJob?
    ) async throws -> VersionedJob? {
        var (current, isFresh) = (known, false)
        var conflictCount = 0
        while true {
            if let job = current, let next = try change(job.value) {
                if let kept = try await make([(next, job.revision)])[0].get() {
                    try await mirror.apply([kept], at: clock.now())
                    return kept
                }
                if isFresh {
                    conflictCount += 1
                    try await pause(afterConflicts: conflictCount, of: id)
                }
            } else if isFresh {
                return nil
            }
            current = try await fetch(id)
            isFresh = true
        }
    }

    /// The maximum number of conflicts with a revision just read. Each may be a change by another client between the
    /// read and the write.
    private static let conflictsMax = 6

    private func pause(afterConflicts count: Int, of id: String) async throws {
        guard count < Self.conflictsMax else {
            logger.error(
                "the NATS servers reject every change of a job, although it has the revision that they returned",
                metadata: ["job": "\(id)", "stream": "\(jobs.streamName)"])
            throw AttachPrepError(
                .queueUnavailable,
                "The NATS servers reject every change of the job \(id); their copies of it may differ; see the log.")
        }
        let milliseconds = ConflictDecision(count: count).pauseMilliseconds
        try await ContinuousClock().sleep(for: .milliseconds(clamping: Int(clamping: milliseconds)))
    }

    /// Makes changes in order, without waiting between them.
    ///
    /// - Parameter changes: the new values and the revisions that they replace, 0 for new jobs.
    /// - Returns: The stored versions, for the read model; nil where the job had another revision.
    func make(_ changes: [(job: StoredJob, after: UInt64)]) async throws -> [Result<VersionedJob?, any Error>] {
        let answers = await jobs.makeAll(try changes.map { try change($0.job, after: $0.after) })
        let receivedAt = clock.now().steady
        return zip(changes, answers).map { change, answer in
            answer.map { revision in
                revision.map { VersionedJob(value: change.job, revision: $0, receivedAt: receivedAt) }
            }
        }
    }

    /// The change of a job. The read model recognizes it as a local one when it comes back from the servers.
    func change(_ job: StoredJob, after revision: UInt64) throws -> KeyValueBucket.Change {
        KeyValueBucket.Change(QueueKeys.job(job.id), try mirror.writeCache.bytes(of: job), after: revision)
    }

    /// Has the servers deliver a job's message again after `milliseconds`, and remembers it until then.
    func deferDelivery(_ delivery: LaneDelivery, _ until: DeferredDeliveries.Until, milliseconds: Int64) {
        let time = Duration.milliseconds(clamping: Int(clamping: max(0, milliseconds)))
        stream.acknowledge(delivery.reply, .later(time))
        deferredDeliveries.add(delivery, until: until, for: time)
    }
}

private struct ClaimCandidate: Sendable {
    var delivery: LaneDelivery
    /// The value after the claim.
    var job: StoredJob
    /// The revision before the claim.
    var revision: UInt64
}

extension NATSJobQueue {
    /// Claims jobs for a worker. Skips jobs that were changed meanwhile and jobs whose work key another job began to
    /// run with before.
    func grant(_ found: [(delivery: LaneDelivery, job: VersionedJob)], _ request: ClaimRequest) async throws
        -> [ClaimedJob]
    {
        guard !found.isEmpty else { return [] }
        let moment = clock.now()
        let candidates = found.compactMap { delivery, job in
            let token = Int64.random(in: 1 ... .max)
            return job.value.claimed(by: request.worker, token: token, at: moment.wall).map {
                ClaimCandidate(delivery: delivery, job: $0, revision: job.revision)
            }
        }
        let taken = try await apply(candidates, for: request.lease, at: moment)
        for one in taken {
            conflicts.progressed(one.delivery.job)
            held.add(one)
            // Cancels the delayed delivery to other machines.
            if one.delivery.isDeferred { stream.acknowledge(one.delivery.reply, .inProgress) }
        }
        try await mirror.apply(taken.map(\.job), at: moment)
        return try await resolveKeyConflicts(taken).compactMap(claimed)
    }

    private func apply(
        _ candidates: [ClaimCandidate], for lease: Duration, at moment: StoreMoment
    ) async throws -> [HeldLeases.Entry] {
        let answers = try await make(candidates.map { ($0.job, $0.revision) })
        var taken: [HeldLeases.Entry] = []
        var lastError: (any Error)?
        for (candidate, answer) in zip(candidates, answers) {
            switch answer {
            case .success(let job?):
                taken.append(
                    HeldLeases.Entry(
                        job: job, delivery: candidate.delivery,
                        until: moment.steady.adding(clamping: lease.milliseconds)))
            case .success(nil): recordConflict(candidate, at: moment)
            case .failure(let error): lastError = error
            }
        }
        if let lastError, taken.isEmpty { throw lastError }
        return taken
    }

    /// Records a rejected claim: another client changed the job meanwhile, or the known revision is wrong.
    private func recordConflict(_ candidate: ClaimCandidate, at moment: StoreMoment) {
        let id = candidate.delivery.job
        let decision = conflicts.refused(id, at: moment.steady)
        stream.acknowledge(
            candidate.delivery.reply, .later(.milliseconds(clamping: Int(clamping: decision.pauseMilliseconds))))
        guard decision.isLogged else { return }
        logger.warning(
            """
            the NATS servers reject claims of a job, although they have the revision that they returned; it is read \
            from the stream's leader from now on
            """,
            metadata: [
                "job": "\(id)", "revision": "\(candidate.revision)", "stream": "\(jobs.streamName)",
                "server": "\(connection.serverAddress ?? "none")",
            ])
    }

    // MARK: One running job per work key

    /// Releases claimed jobs whose work key another job began to run with before. All machines see the bucket's changes
    /// in the same order, so a machine that has received all changes up to its own claim can determine whether it was
    /// first.
    ///
    /// - Returns: The jobs that stay claimed.
    private func resolveKeyConflicts(_ taken: [HeldLeases.Entry]) async throws -> [HeldLeases.Entry] {
        // The read model has these changes, unless that took too long. Then two machines may do the same work, which
        // costs a download.
        let superseded = try await mirror.superseded(taken.map { ($0.job.value, $0.job.revision) })
        for one in taken where superseded.contains(one.job.value.id) { try await withdraw(from: one) }
        return taken.filter { !superseded.contains($0.job.value.id) }
    }

    private func withdraw(from one: HeldLeases.Entry) async throws {
        let (token, now) = (one.token, clock.now().wall)
        let job = try await change(one.job.value.id, from: one.job) { $0.released(under: token, at: now) }
        held.remove(JobLease(job: one.delivery.job, token: token))
        guard let job else { return }
        guard job.value.state == .queued else { return await completeDelivery(one.delivery, job) }
        deferDelivery(
            one.delivery, .capacity(host: job.value.host, key: job.value.key),
            milliseconds: LaneClaim.capacityRetryMilliseconds(one.delivery.count))
    }

    private func claimed(_ held: HeldLeases.Entry) -> ClaimedJob? {
        do {
            return try held.job.value.claimed()
        } catch {
            // One invalid value must not stop the others. Its lease expires and it is retried with growing back-off.
            logger.error(
                "cannot read a claimed job", metadata: ["job": "\(held.job.value.id)", "error": "\(error)"])
            return nil
        }
    }
}

/// Decides how to continue after a claim that the servers rejected because of the revision: pure.
struct ConflictDecision: Sendable, Hashable {
    /// The time until the job's message is delivered again. It doubles with each rejection, so that a job that cannot
    /// be claimed costs little.
    let pauseMilliseconds: Int64
    /// Whether the next claim reads the revision from the stream's leader instead of the read model.
    let readsLeader: Bool
    /// Whether to log it; true once per series of rejections.
    let isLogged: Bool

    /// The number of rejections in a row that normal operation explains: another machine may claim, release and claim
    /// the job again meanwhile.
    private static let usualCountMax = 2
    /// The interval at which an unknown job is looked up again (see `LaneDecision`).
    private static let pauseMillisecondsMin: Int64 = 100
    /// Shorter than a lease and than `ClaimStall.recentSeconds`.
    private static let pauseMillisecondsMax: Int64 = 10_000

    /// - Parameter count: the number of rejections of the same job in a row, including this one.
    init(count: Int) {
        let doublings = min(max(0, count.subtracting(clamping: 1)), 7)
        pauseMilliseconds = min(Self.pauseMillisecondsMin << Int64(doublings), Self.pauseMillisecondsMax)
        readsLeader = count > Self.usualCountMax
        isLogged = count == Self.usualCountMax.adding(clamping: 1)
    }
}

/// Detects that claims are rejected while no job progresses: pure.
struct ClaimStall: Sendable, Hashable {
    /// The first rejection since a job of this machine progressed.
    private var first: Int64?
    /// The last rejection since a job of this machine progressed.
    private var last: Int64?

    /// Two leases. A cluster elects a new leader within seconds, and a lost worker's job is delivered to another worker
    /// after one lease.
    static let stallSeconds: Int64 = 30
    /// After this time without a rejection the stall is over: the rejected jobs are no longer claimed.
    static let recentSeconds: Int64 = 20

    mutating func refused(at steady: Int64) {
        first = first ?? steady
        last = steady
    }

    mutating func progressed() { (first, last) = (nil, nil) }

    func isStalled(at steady: Int64) -> Bool {
        guard let first, let last else { return false }
        return last.subtracting(clamping: first) >= Self.stallSeconds.multiplied(clamping: 1000)
            && steady.subtracting(clamping: last) < Self.recentSeconds.multiplied(clamping: 1000)
    }
}

/// Counts the rejected claims of this machine for each job.
final class RevisionConflicts: Sendable {
    private struct State {
        var counts: [JobID: Int] = [:]
        var total = 0
        var stall = ClaimStall()
    }

    private let state = Mutex(State())

    /// The maximum number of jobs with a count; when it is reached, all counts restart.
    private static let jobsMax = 10_000

    func refused(_ job: JobID, at steady: Int64) -> ConflictDecision {
        state.withLock { state in
            if state.counts.count >= Self.jobsMax, state.counts[job] == nil { state.counts = [:] }
            let count = (state.counts[job] ?? 0).adding(clamping: 1)
            state.counts[job] = count
            state.total = state.total.adding(clamping: 1)
            state.stall.refused(at: steady)
            return ConflictDecision(count: count)
        }
    }

    /// Records that this machine claimed or ended a job.
    func progressed(_ job: JobID) {
        state.withLock { state in
            state.counts[job] = nil
            state.stall.progressed()
        }
    }

    /// Drops the count of a job that another machine has or that has ended.
    func remove(_ job: JobID) { state.withLock { $0.counts[job] = nil } }

    /// Whether to read a job from the stream's leader before claiming it again.
    func readsLeader(_ job: JobID) -> Bool {
        state.withLock { $0.counts[job] }.map { ConflictDecision(count: $0).readsLeader } ?? false
    }

    var total: Int { state.withLock { $0.total } }

    func isStalled(at steady: Int64) -> Bool { state.withLock { $0.stall.isStalled(at: steady) } }
}
