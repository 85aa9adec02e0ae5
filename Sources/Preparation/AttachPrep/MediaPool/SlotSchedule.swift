import Glibc
import MediaEngine
import SafeArithmetic

/// The slot scheduler: at most `mediaSlots` renders at a time, and one more worker. Pure.
///
/// A query may use any worker; renders leave one of them free, so that a render never delays a rejection. When several
/// callers or hosts share the slots, that worker is kept for those that have no call in progress, and their renders may
/// use it: a caller with many long calls so delays nobody else's first call. Idle workers are taken last in, first out:
/// those with a warm process before those without one. Among the waiting calls, `SlotShares` chooses.
struct SlotSchedule {
    /// A queued call.
    struct Waiter: Hashable {
        let number: Int
        let isRender: Bool
        var share = MediaShare()
    }

    /// A call and the worker assigned to it.
    struct Grant: Hashable {
        let waiter: Int
        let worker: Int
    }

    private let mediaSlots: Int
    /// Workers are taken from the end: without a process first, then with one that is loading, then with a warm one.
    private var idle: [(worker: Int, isWarm: Bool)]
    private var renders = 0
    /// In order of arrival.
    private var queue: [Waiter] = []
    /// Whose call each busy worker performs, and since when.
    private var busy: [Int: (share: MediaShare, since: Double)] = [:]
    private var shares = SlotShares()

    init(mediaSlots: Int) {
        self.mediaSlots = mediaSlots
        idle = (0...mediaSlots).reversed().map { ($0, false) }
    }

    /// Enqueues a call and returns the calls that can begin now.
    ///
    /// - Parameter now: Seconds of a clock that never goes back.
    mutating func enter(_ waiter: Waiter, at now: Double = 0) -> [Grant] {
        queue.append(waiter)
        return grants(at: now)
    }

    /// Assigns a worker to a render immediately; nil unless the queue is empty and a warm worker is idle.
    mutating func acquireIfFree(for share: MediaShare = MediaShare(), at now: Double = 0) -> Int? {
        guard queue.isEmpty, let last = idle.last, last.isWarm, mayBegin(share, isRender: true, at: now) else {
            return nil
        }
        idle.removeLast()
        renders += 1
        begin(share, on: last.worker, at: now)
        return last.worker
    }

    /// Removes a call from the queue; false when it has begun already or was never queued.
    mutating func leave(_ number: Int) -> Bool {
        guard let index = queue.firstIndex(where: { $0.number == number }) else { return false }
        queue.remove(at: index)
        return true
    }

    /// Returns a worker to the idle list and returns the calls that can begin now.
    ///
    /// - Parameter isWarm: Whether its process can begin at once; a worker that is still loading is taken last.
    mutating func release(worker: Int, isRender: Bool, isWarm: Bool = true, at now: Double = 0) -> [Grant] {
        precondition(!idle.contains { $0.worker == worker }, "a worker must not be released twice")
        if isRender { renders -= 1 }
        if let call = busy.removeValue(forKey: worker) {
            shares.end(call.share, seconds: now - call.since, at: now)
        }
        let index = isWarm ? nil : idle.firstIndex { $0.isWarm }
        idle.insert((worker, isWarm), at: index ?? idle.endIndex)
        return grants(at: now)
    }

    private mutating func begin(_ share: MediaShare, on worker: Int, at now: Double) {
        busy[worker] = (share, now)
        shares.begin(share)
    }

    private mutating func grants(at now: Double) -> [Grant] {
        var grants: [Grant] = []
        while let worker = idle.last?.worker, let index = nextIndex(at: now) {
            let waiter = queue.remove(at: index)
            idle.removeLast()
            if waiter.isRender { renders += 1 }
            begin(waiter.share, on: worker, at: now)
            grants.append(Grant(waiter: waiter.number, worker: worker))
        }
        return grants
    }

    private func mayBegin(_ share: MediaShare, isRender: Bool, at now: Double) -> Bool {
        guard shares.isShared(with: share, at: now) else { return !isRender || renders < mediaSlots }
        return idle.count > 1 || shares.mayTakeLast(share, at: now)
    }

    private func nextIndex(at now: Double) -> Int? {
        let allowed = queue.indices.filter { mayBegin(queue[$0].share, isRender: queue[$0].isRender, at: now) }
        guard let caller = shares.nextCaller(among: allowed.map { queue[$0].share }, at: now) else { return nil }
        let own = allowed.filter { queue[$0].share.caller == caller }
        // Queries before renders.
        let queries = own.filter { !queue[$0].isRender }
        let calls = queries.isEmpty ? own : queries
        return shares.next(among: calls.map { ($0, queue[$0].share) }, at: now)
    }
}

/// Divides the slots among the callers of a service, and the slots of a caller among its priorities and hosts. Pure.
///
/// The next call is that of the caller that works in the fewest slots, and of those the one that used the slots least
/// of late; among the calls of a caller, priorities take turns (16 of 21 to high, 4 to normal, 1 to bulk), and among
/// those of a priority, hosts are chosen as callers are. No media slot is idle while a call waits.
struct SlotShares {
    private struct Use {
        var running = 0
        /// Seconds in slots, which count half after `halfLife`.
        var seconds = 0.0
        var measuredAt = 0.0

        func decayed(at now: Double) -> Double {
            seconds * exp2(-max(0, now - measuredAt) / SlotShares.halfLife)
        }
    }

    private enum Name: Hashable {
        case caller(String)
        case host(String, of: String)
    }

    /// Long enough to remember a call that used its whole budget, short enough to forget a burst.
    private static let halfLife = 60.0
    /// Uses below this many seconds are forgotten.
    private static let secondsMin = 0.01
    /// Names remembered; above it, those that are not running and used least are forgotten.
    private static let namesMax = 1_000

    private var uses: [Name: Use] = [:]
    /// Calls granted to a caller so far, for the turns of its priorities.
    private var turns: [String: Int] = [:]

    mutating func begin(_ share: MediaShare) {
        for name in Self.names(share) { uses[name, default: Use()].running += 1 }
        turns[share.caller] = (turns[share.caller] ?? 0).adding(clamping: 1) % Self.turnsCount
    }

    mutating func end(_ share: MediaShare, seconds: Double, at now: Double) {
        for name in Self.names(share) {
            guard var use = uses[name] else { continue }
            use.running -= 1
            use.seconds = use.decayed(at: now) + max(0, seconds)
            use.measuredAt = now
            uses[name] = use
        }
        if uses.count > Self.namesMax { forget(at: now) }
    }

    /// Whether other callers or hosts use the slots, or did of late.
    func isShared(with share: MediaShare, at now: Double) -> Bool {
        let own = Self.names(share)
        return uses.contains { !own.contains($0.key) && isInUse($0.value, at: now) }
    }

    /// Whether a call may take the last worker: its caller has no call in progress, or it is the only caller and there
    /// is none for the call's host.
    func mayTakeLast(_ share: MediaShare, at now: Double) -> Bool {
        let own = Self.names(share)
        if uses[own[0]]?.running ?? 0 == 0 { return true }
        guard uses[own[1]]?.running ?? 0 == 0 else { return false }
        return !uses.contains { name, use in
            guard case .caller(let caller) = name else { return false }
            return caller != share.caller && isInUse(use, at: now)
        }
    }

    private func isInUse(_ use: Use, at now: Double) -> Bool {
        use.running > 0 || use.decayed(at: now) > Self.secondsMin
    }

    /// - Parameter waiting: The shares of the waiting calls in order of arrival.
    func nextCaller(among waiting: [MediaShare], at now: Double) -> String? {
        guard case .caller(let caller) = least(waiting.map { .caller($0.caller) }, at: now) else { return nil }
        return caller
    }

    /// - Parameter waiting: The waiting calls of a caller in order of arrival.
    /// - Returns: The index of the one to grant.
    func next(among waiting: [(index: Int, share: MediaShare)], at now: Double) -> Int? {
        guard waiting.count > 1, let caller = waiting.first?.share.caller else { return waiting.first?.index }
        let priority = Self.priorities(turn: turns[caller] ?? 0).first { priority in
            waiting.contains { $0.share.priority == priority }
        }
        let calls = waiting.filter { $0.share.priority == priority }
        let host = least(calls.map { .host($0.share.host, of: caller) }, at: now)
        return calls.first { .host($0.share.host, of: caller) == host }?.index
    }

    private func least(_ names: [Name], at now: Double) -> Name? {
        var best: (name: Name, running: Int, seconds: Double)?
        var seen: Set<Name> = []
        for name in names where seen.insert(name).inserted {
            let use = uses[name] ?? Use()
            let seconds = use.decayed(at: now)
            // The first wins a tie, because it has waited longer.
            if let best, (best.running, best.seconds) <= (use.running, seconds) { continue }
            best = (name, use.running, seconds)
        }
        return best?.name
    }

    private static func names(_ share: MediaShare) -> [Name] {
        [.caller(share.caller), .host(share.host, of: share.caller)]
    }

    private static let turnsCount = 21

    private static func priorities(turn: Int) -> [MediaShare.Priority] {
        let isLast = turn >= turnsCount.subtracting(clamping: 1)
        let first: MediaShare.Priority = isLast ? .bulk : turn % 5 == 4 ? .normal : .high
        return [first] + MediaShare.Priority.allCases.filter { $0 != first }
    }

    private mutating func forget(at now: Double) {
        let idle = uses.filter { $0.value.running <= 0 }
            .sorted { $0.value.decayed(at: now) < $1.value.decayed(at: now) }
        for (name, _) in idle.prefix(Self.namesMax / 2) {
            uses[name] = nil
            if case .caller(let caller) = name { turns[caller] = nil }
        }
    }
}
