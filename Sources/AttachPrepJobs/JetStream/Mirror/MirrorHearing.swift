import Synchronization

/// How far a mirror has heard of its bucket, for those who wait for that.
final class MirrorHearing: Sendable {
    private struct Waiter {
        var revision: UInt64
        var end: ContinuousClock.Instant
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var revision: UInt64 = 0
        /// Nothing was heard for as long as somebody waited: nobody waits until something is.
        var isSilent = false
        var waiters: [Waiter] = []
        /// Whether somebody looks after those who wait for too long.
        var isWatched = false
    }

    private let state = Mutex(State())

    /// All changes up to that one were taken in.
    func heard(_ revision: UInt64) {
        let ready = state.withLock { state in
            state.revision = max(state.revision, revision)
            state.isSilent = false
            let reached = state.revision
            return Self.remove(&state.waiters) { $0.revision <= reached }
        }
        for waiter in ready { waiter.continuation.resume(returning: true) }
    }

    /// Returns when all up to that one were taken in, or that time is over.
    ///
    /// - Returns: whether they were.
    func wait(for revision: UInt64, atMost time: Duration) async -> Bool {
        await withCheckedContinuation { continuation in
            let (known, isUnwatched) = state.withLock { state -> (Bool?, Bool) in
                if state.revision >= revision { return (true, false) }
                if state.isSilent { return (false, false) }
                state.waiters.append(Waiter(revision: revision, end: .now + time, continuation: continuation))
                defer { state.isWatched = true }
                return (nil, !state.isWatched)
            }
            if let known { continuation.resume(returning: known) }
            if isUnwatched { watchClock() }
        }
    }

    /// Looks after those who wait for too long, as long as there are any: an alarm for each would cost more than the
    /// wait.
    private func watchClock() {
        Task {
            repeat {
                try? await ContinuousClock().sleep(for: Self.tick)
            } while giveUp(at: .now)
        }
    }

    private static let tick = Duration.milliseconds(50)

    /// - Returns: whether anybody waits still.
    private func giveUp(at now: ContinuousClock.Instant) -> Bool {
        let (late, isLeft) = state.withLock { state in
            let late = Self.remove(&state.waiters) { $0.end <= now }
            if !late.isEmpty { state.isSilent = true }
            state.isWatched = !state.waiters.isEmpty
            return (late, state.isWatched)
        }
        for waiter in late { waiter.continuation.resume(returning: false) }
        return isLeft
    }

    private static func remove(_ waiters: inout [Waiter], where isMeant: (Waiter) -> Bool) -> [Waiter] {
        let meant = waiters.filter(isMeant)
        if !meant.isEmpty { waiters.removeAll(where: isMeant) }
        return meant
    }

    /// Everything is heard anew.
    func startAnew() { state.withLock { $0.revision = 0 } }
}
