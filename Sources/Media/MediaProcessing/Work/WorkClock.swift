/// The time limits of one call: its deadline, and the earlier time by which the work should be finished.
///
/// Work that can be made cheaper checks the remaining time as it goes and reduces quality, size or length early
/// enough; a caller that has no answer at the deadline kills the process.
package struct WorkClock: Sendable {
    /// Part of the time that may be planned for; the rest is reserved for writing the output and answering.
    private static let aimShare = 0.9

    package let start: ContinuousClock.Instant
    package let deadline: ContinuousClock.Instant
    /// When the work should be finished.
    package let aim: ContinuousClock.Instant
    /// The time of now; tests inject their own.
    private let now: @Sendable () -> ContinuousClock.Instant

    package init(deadline: ContinuousClock.Instant) {
        self.init(start: .now, deadline: deadline)
    }

    init(start: ContinuousClock.Instant, deadline: ContinuousClock.Instant) {
        self.init(start: start, aim: start + start.duration(to: deadline) * Self.aimShare, deadline: deadline)
    }

    package init(
        start: ContinuousClock.Instant, aim: ContinuousClock.Instant, deadline: ContinuousClock.Instant,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.start = start
        self.aim = aim
        self.deadline = deadline
        self.now = now
    }

    /// Seconds until `aim`; negative after it.
    package var secondsLeft: Double { now().duration(to: aim) / .seconds(1) }
    /// Seconds since the start.
    package var secondsSpent: Double { start.duration(to: now()) / .seconds(1) }

    /// A clock for a part of the work, with a share of the remaining time; its deadline is the end of that share.
    package func share(_ share: Double) -> WorkClock {
        let start = now()
        let end = start + start.duration(to: aim) * share
        return WorkClock(start: start, aim: start + start.duration(to: end) * Self.aimShare, deadline: end, now: now)
    }

    /// Like `share(_:)`, but with the whole work's deadline: exceeding the share is late, not yet a failure.
    func share(_ share: Double, until deadline: ContinuousClock.Instant) -> WorkClock {
        let start = now()
        return WorkClock(start: start, aim: start + start.duration(to: aim) * share, deadline: deadline, now: now)
    }
}
