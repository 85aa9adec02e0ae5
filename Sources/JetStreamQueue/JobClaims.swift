import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import Logging
import NATS
import RichPush
import SQLiteQueue
import SafeArithmetic
import Synchronization

extension NATSJobQueue {
    public func claim(
        _ count: Int, by worker: String, lease: Duration, hostLimit: Int
    ) async throws -> [ClaimedJob] {
        try await mapError { () async throws -> [ClaimedJob] in
            // Checked here because a pull that is not sent only times out.
            if let versionError = connection.versionError { throw versionError }
            let request = ClaimRequest(worker: worker, lease: lease, hostLimit: hostLimit)
            return try await claimCoalescer.claim(count, request) { [self] request, count in
                var claim = LaneClaim(self, request)
                return try await claim.run(count)
            }
        }
    }

    /// Decides what to do with a lane message and does it.
    ///
    /// - Parameter known: the job in the read model.
    /// - Returns: The job if it can be claimed.
    func examine(_ delivery: LaneDelivery, _ known: VersionedJob?) async throws -> VersionedJob? {
        let found: VersionedJob?
        do {
            found = try await current(delivery.job, known)
        } catch let error as AttachPrepError {
            // One invalid value must not stop the lane; a newer version may be able to read it.
            logger.error(
                "cannot read a job's value; the job is skipped",
                metadata: ["job": "\(delivery.job)", "error": "\(error)"])
            if !delivery.isDeferred { stream.acknowledge(delivery.reply, .later(Self.unreadablePause)) }
            return nil
        }
        let isHeld = held.held(delivery.job).map { $0.token == found?.value.token } ?? false
        let decision = LaneDecision(
            found, delivery, isHeld: isHeld, leaseMilliseconds: lease.milliseconds, at: clock.now())
        if decision != .claimable { conflicts.remove(delivery.job) }
        switch decision {
        case .claimable: return found
        case .wait(let until, let milliseconds): deferDelivery(delivery, until, milliseconds: milliseconds)
        // The servers delivered the message to another consumer meanwhile.
        case .retryLater where delivery.isDeferred: break
        case .retryLater(let milliseconds):
            stream.acknowledge(delivery.reply, .later(.milliseconds(clamping: Int(clamping: milliseconds))))
        case .redelivered: held.redelivered(delivery)
        case .done: await completeDelivery(delivery, found)
        case .lost where delivery.isDeferred: break
        case .lost: try await reclaim(delivery, found)
        }
        return nil
    }

    /// The latest known version of a job. Reads the stream's leader if claims with the known revision were rejected.
    private func current(_ id: JobID, _ known: VersionedJob?) async throws -> VersionedJob? {
        guard conflicts.readsLeader(id) else {
            if let known { return known }
            return try await fetch(id.text)
        }
        let found = try await fetch(id.text)
        if found?.revision != known?.revision { try await mirror.replace(id.text, found, at: clock.now()) }
        return found
    }

    /// The time until a job with an unreadable value is delivered again.
    private static let unreadablePause = Duration.seconds(60)

    /// Acknowledges the message of a finished job, after writing the dead letter of a dead one.
    func completeDelivery(_ delivery: LaneDelivery, _ job: VersionedJob?) async {
        deferredDeliveries.remove(delivery.job)
        if let job, job.value.state == .dead, await !writeDeadLetter(job.value) { return }
        stream.acknowledge(delivery.reply, .done)
    }

    /// - Returns: False when it could not be written; the message is delivered again.
    private func writeDeadLetter(_ job: StoredJob) async -> Bool {
        do {
            let letter = Array(try StoredJSON.text(try job.job()).utf8)
            try await stream.publish(OutgoingMessage(names.deadLetterSubject(job.id), letter).after(0))
            return true
        } catch {
            logger.warning("cannot write a dead letter", metadata: ["job": "\(job.id)", "error": "\(error)"])
            return false
        }
    }

    // MARK: Expired leases

    /// Requeues jobs of this machine whose lease has expired.
    func reclaimExpired() async throws {
        for held in held.expired(at: clock.now().steady) {
            let token = held.token
            let lease = JobLease(job: held.delivery.job, token: token)
            let now = clock.now().wall
            let isExcused = held.until <= failedRenewals.excusedUntil
            let lost = try await change(held.job.value.id, from: held.job) { job in
                guard job.isRunning(under: token) else { return nil }
                return isExcused ? job.released(under: token, at: now) : job.lost(at: now)
            }
            self.held.remove(lease)
            if let lost { await requeued(held.delivery, lost) }
        }
    }

    /// Requeues a job of another machine whose lease has expired.
    private func reclaim(_ delivery: LaneDelivery, _ job: VersionedJob?) async throws {
        guard let job, let token = job.value.token else { return }
        let now = clock.now().wall
        let lost = try await change(job.value.id, from: job) { $0.isRunning(under: token) ? $0.lost(at: now) : nil }
        guard let lost else { return stream.acknowledge(delivery.reply, .later(.zero)) }
        logger.notice("a lease expired; its job is queued again", metadata: ["job": "\(job.value.id)"])
        await requeued(delivery, lost)
    }

    /// Defers or completes the message of a job that went back to the queue, or was cancelled while it was running.
    func requeued(_ delivery: LaneDelivery, _ job: VersionedJob) async {
        let moment = clock.now()
        var delivery = delivery
        // The flag is for the last wait, not for the next one.
        delivery.hasWaited = false
        switch LaneDecision(
            job, delivery, isHeld: false, leaseMilliseconds: lease.milliseconds, at: moment)
        {
        case .wait(let until, let milliseconds): deferDelivery(delivery, until, milliseconds: milliseconds)
        case .claimable: deferDelivery(delivery, .now, milliseconds: Self.handOverMilliseconds)
        default: await completeDelivery(delivery, job)
        }
    }

    /// The time for which only this machine may claim a job that it has requeued.
    private static let handOverMilliseconds: Int64 = 200
}

/// One claim: takes messages from the lanes in rotation and claims their jobs.
struct LaneClaim: Sendable {
    let queue: NATSJobQueue
    let request: ClaimRequest
    private var exhausted: Set<JobPriority> = []
    /// Deferred messages whose jobs can run now.
    private var ready: [JobPriority: [LaneDelivery]] = [:]

    init(_ queue: NATSJobQueue, _ request: ClaimRequest) {
        self.queue = queue
        self.request = request
    }

    /// The maximum number of times that a claim takes more messages because jobs cannot run.
    private static let windowsMax = 16

    mutating func run(_ count: Int) async throws -> [ClaimedJob] {
        try await queue.reclaimExpired()
        var claimed: [ClaimedJob] = []
        takeReady()
        for _ in 0..<Self.windowsMax where claimed.count < count {
            guard let deliveries = try await gather(count - claimed.count) else { break }
            claimed += try await claim(deliveries)
        }
        return claimed
    }

    private mutating func takeReady() {
        let (hosts, keys) = queue.held.load()
        ready = queue.deferredDeliveries.ready(at: queue.clock.now()) { [hostLimit = request.hostLimit] host, key in
            !keys.contains(key) && host.map { hosts[$0, default: 0] < hostLimit } ?? true
        }
    }

    // MARK: Messages in lane rotation

    /// Takes at most `count` messages from the lanes in rotation; nil when all lanes are exhausted.
    private mutating func gather(_ count: Int) async throws -> [LaneDelivery]? {
        let order = laneRotation(count)
        if order.isEmpty { return nil }
        var found: [JobPriority: [LaneDelivery]] = [:]
        for lane in JobPriority.allCases {
            let wanted = order.count { $0 == lane }
            let known = Array(ready[lane]?.prefix(wanted) ?? [])
            ready[lane]?.removeFirst(known.count)
            for delivery in known { queue.deferredDeliveries.remove(delivery.job) }
            found[lane] = known + (try await fetch(lane, wanted - known.count))
        }
        return order.compactMap { lane in
            guard found[lane]?.isEmpty == false else { return nil }
            return found[lane]?.removeFirst()
        }
    }

    /// The lanes of the next `count` messages, without exhausted ones.
    private func laneRotation(_ count: Int) -> [JobPriority] {
        let there = Set(JobPriority.allCases.filter { !exhausted.contains($0) || ready[$0]?.isEmpty == false })
        guard !there.isEmpty else { return [] }
        return (0..<count).compactMap { _ in queue.laneRotation.next().first(where: there.contains) }
    }

    private mutating func fetch(_ lane: JobPriority, _ count: Int) async throws -> [LaneDelivery] {
        guard count > 0, !exhausted.contains(lane), let consumer = queue.lanes[lane] else { return [] }
        let deliveries = try await consumer.fetch(count)
        if deliveries.count < count { exhausted.insert(lane) }
        return deliveries.compactMap { delivery in
            if let known = LaneDelivery(delivery, lane: lane) { return known }
            queue.stream.acknowledge(delivery.reply, .done)
            return nil
        }
    }

    // MARK: Jobs

    private func claim(_ deliveries: [LaneDelivery]) async throws -> [ClaimedJob] {
        guard !deliveries.isEmpty else { return [] }
        let lookup = try await queue.mirror.lookup(deliveries.map(\.job.text))
        var (hosts, keys) = queue.held.load()
        keys.formUnion(lookup.busyKeys)
        var candidates: [(delivery: LaneDelivery, job: VersionedJob)] = []
        for delivery in deliveries {
            guard let job = try await queue.examine(delivery, lookup.jobs[delivery.job.text]) else { continue }
            let host = job.value.host
            if keys.contains(job.value.key) || host.map({ hosts[$0, default: 0] >= request.hostLimit }) ?? false {
                queue.deferDelivery(
                    delivery, .capacity(host: host, key: job.value.key),
                    milliseconds: Self.capacityRetryMilliseconds(delivery.count))
                continue
            }
            keys.insert(job.value.key)
            if let host { hosts[host, default: 0] += 1 }
            candidates.append((delivery, job))
        }
        return try await queue.grant(candidates, request)
    }

    /// The time after which a job whose host or work key is busy is delivered again: 0.5 s more with each delivery, at
    /// most 10 s.
    static func capacityRetryMilliseconds(_ count: Int) -> Int64 { 500 * Int64(min(count, 20)) }
}

struct ClaimRequest: Sendable, Hashable {
    var worker: String
    var lease: Duration
    var hostLimit: Int
}

/// Runs one claim at a time, because a claim depends on the jobs that this machine already has. Calls that arrive
/// meanwhile with the same parameters are combined into one claim and share its jobs in order of arrival.
final class ClaimCoalescer: Sendable {
    private struct PendingClaim {
        var request: ClaimRequest
        var count: Int
        var continuation: CheckedContinuation<[ClaimedJob], any Error>
    }

    private struct State {
        var pending: [PendingClaim] = []
        var isWorking = false
    }

    private let state = Mutex(State())

    /// - Parameter work: claims at most the given number of jobs.
    func claim(
        _ count: Int, _ request: ClaimRequest,
        _ work: @escaping @Sendable (ClaimRequest, Int) async throws -> [ClaimedJob]
    ) async throws -> [ClaimedJob] {
        guard count > 0 else { return [] }
        return try await withCheckedThrowingContinuation { continuation in
            let begins = state.withLock { state in
                state.pending.append(PendingClaim(request: request, count: count, continuation: continuation))
                defer { state.isWorking = true }
                return !state.isWorking
            }
            if begins { Task { await runPending(work) } }
        }
    }

    private func runPending(_ work: @Sendable (ClaimRequest, Int) async throws -> [ClaimedJob]) async {
        while let pending = nextPending(), let request = pending.first?.request {
            do {
                var jobs = try await work(request, pending.map(\.count).reduce(0, +))[...]
                for call in pending {
                    call.continuation.resume(returning: Array(jobs.prefix(call.count)))
                    jobs = jobs.dropFirst(call.count)
                }
            } catch {
                for call in pending { call.continuation.resume(throwing: error) }
            }
        }
    }

    /// The first pending call and all others with the same parameters.
    private func nextPending() -> [PendingClaim]? {
        state.withLock { state in
            guard let request = state.pending.first?.request else {
                state.isWorking = false
                return nil
            }
            defer { state.pending.removeAll { $0.request == request } }
            return state.pending.filter { $0.request == request }
        }
    }
}
