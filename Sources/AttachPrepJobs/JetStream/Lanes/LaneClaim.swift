import AttachPrep
import NATS
import RichPush

/// One claim: takes messages from the lanes in their turns, and claims the jobs that they name.
struct LaneClaim: Sendable {
    let queue: JetStreamQueue
    let wish: ClaimWish
    private var exhausted: Set<JobPriority> = []
    /// What was put off before, and may be given now.
    private var ready: [JobPriority: [LaneDelivery]] = [:]

    init(_ queue: JetStreamQueue, _ wish: ClaimWish) {
        self.queue = queue
        self.wish = wish
    }

    /// So often a claim looks further when jobs that cannot run stand in its way.
    private static let windowsMax = 16

    mutating func run(_ count: Int) async throws -> [ClaimedJob] {
        try await queue.takeBackExpired()
        let decision = IsolationDecision(
            hasAlone: queue.held.hasAlone, inFlight: !queue.held.isEmpty, isAloneDue: queue.waiting.hasAlone,
            wasAlone: queue.isolation.wasAlone)
        switch decision {
        case .wait: return []
        case .alone: return try await claimAlone()
        case .ordinary, .ordinaryFirst: break
        }
        let claimed = try await claimOrdinary(count)
        if claimed.isEmpty, queue.held.isEmpty { return try await claimAlone() }
        queue.isolation.note(alone: false)
        return claimed
    }

    /// One job that runs alone, when there is one and nothing else is in flight on this machine.
    private func claimAlone() async throws -> [ClaimedJob] {
        while let delivery = queue.waiting.nextAlone() {
            let look = try await queue.mirror.look([delivery.job.text])
            guard let job = try await queue.examine(delivery, look.jobs[delivery.job.text]) else { continue }
            if look.busyKeys.contains(job.value.key) {
                let until = WaitingDeliveries.Until.room(host: job.value.host, key: job.value.key)
                queue.putOff(delivery, until, milliseconds: Self.roomMilliseconds(delivery.count))
                continue
            }
            let claimed = try await queue.give([(delivery, job)], wish)
            guard claimed.isEmpty else {
                queue.isolation.note(alone: true)
                return claimed
            }
        }
        return []
    }

    private mutating func claimOrdinary(_ count: Int) async throws -> [ClaimedJob] {
        var claimed: [ClaimedJob] = []
        takeReady()
        for _ in 0..<Self.windowsMax where claimed.count < count {
            // Bounded: counts of what is in memory.
            guard let deliveries = try await gather(count - claimed.count) else { break }
            claimed += try await claim(deliveries)  // Bounded: lists, not numbers.
        }
        return claimed
    }

    private mutating func takeReady() {
        let (hosts, keys) = queue.held.load()
        ready = queue.waiting.ready(at: queue.clock.now()) { [hostLimit = wish.hostLimit] host, key in
            !keys.contains(key) && host.map { hosts[$0, default: 0] < hostLimit } ?? true
        }
    }

    // MARK: Messages in their turns

    /// At most so many messages, in the order of their lanes' turns; nil when there are no more.
    private mutating func gather(_ count: Int) async throws -> [LaneDelivery]? {
        let order = turns(count)
        if order.isEmpty { return nil }
        var found: [JobPriority: [LaneDelivery]] = [:]
        for lane in JobPriority.allCases {
            let wanted = order.count { $0 == lane }
            let known = Array(ready[lane]?.prefix(wanted) ?? [])
            ready[lane]?.removeFirst(known.count)
            for delivery in known { queue.waiting.forget(delivery.job) }
            found[lane] = known + (try await take(lane, wanted - known.count))  // Bounded: lists, not numbers.
        }
        return order.compactMap { lane in
            guard found[lane]?.isEmpty == false else { return nil }
            return found[lane]?.removeFirst()
        }
    }

    /// Whose turns they are, of those lanes that have something.
    private func turns(_ count: Int) -> [JobPriority] {
        let there = Set(JobPriority.allCases.filter { !exhausted.contains($0) || ready[$0]?.isEmpty == false })
        guard !there.isEmpty else { return [] }
        return (0..<count).compactMap { _ in queue.turns.next().first(where: there.contains) }
    }

    private mutating func take(_ lane: JobPriority, _ count: Int) async throws -> [LaneDelivery] {
        guard count > 0, !exhausted.contains(lane), let consumer = queue.lanes[lane] else { return [] }
        let deliveries = try await consumer.take(count)
        if deliveries.count < count { exhausted.insert(lane) }
        return deliveries.compactMap { delivery in
            if let known = LaneDelivery(delivery, lane: lane) { return known }
            queue.stream.tell(delivery.reply, .done)
            return nil
        }
    }

    // MARK: Jobs

    private func claim(_ deliveries: [LaneDelivery]) async throws -> [ClaimedJob] {
        guard !deliveries.isEmpty else { return [] }
        let look = try await queue.mirror.look(deliveries.map(\.job.text))
        var (hosts, keys) = queue.held.load()
        keys.formUnion(look.busyKeys)
        var offers: [(delivery: LaneDelivery, job: KnownJob)] = []
        for delivery in deliveries {
            guard let job = try await queue.examine(delivery, look.jobs[delivery.job.text]) else { continue }
            if job.value.isAlone {
                queue.putOff(delivery, .alone, milliseconds: Self.aloneMilliseconds)
                continue
            }
            let host = job.value.host
            if keys.contains(job.value.key) || host.map({ hosts[$0, default: 0] >= wish.hostLimit }) ?? false {
                queue.putOff(
                    delivery, .room(host: host, key: job.value.key),
                    milliseconds: Self.roomMilliseconds(delivery.count))
                continue
            }
            keys.insert(job.value.key)
            if let host { hosts[host, default: 0] += 1 }
            offers.append((delivery, job))
        }
        return try await queue.give(offers, wish)
    }

    /// A job that runs alone, and has to wait for what is in flight here, is offered to others after that.
    private static let aloneMilliseconds: Int64 = 2_000

    /// A job whose host is full, or whose work is being done, is given to whoever asks after that; longer each time.
    // Bounded: at most 20 times half a second.
    static func roomMilliseconds(_ count: Int) -> Int64 { 500 * Int64(min(count, 20)) }
}
