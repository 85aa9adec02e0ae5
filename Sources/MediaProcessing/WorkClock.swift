/// The time of one call: when its caller stops waiting, and when the work aims to be through.
///
/// Work that can be made cheaper looks at what is left on the way and gives up quality, size or length before it is
/// too late; a caller that gets nothing by the deadline kills the process.
// Bounded throughout: parts of the time until a deadline.
package struct WorkClock: Sendable {
    /// The part of the time that plans may use: writing out and answering have to fit in the rest.
    private static let aimShare = 0.9

    package let start: ContinuousClock.Instant
    package let deadline: ContinuousClock.Instant
    /// When the work aims to be through.
    package let aim: ContinuousClock.Instant

    package init(deadline: ContinuousClock.Instant) {
        self.init(start: .now, deadline: deadline)
    }

    init(start: ContinuousClock.Instant, deadline: ContinuousClock.Instant) {
        self.init(start: start, aim: start + start.duration(to: deadline) * Self.aimShare, deadline: deadline)
    }

    package init(
        start: ContinuousClock.Instant, aim: ContinuousClock.Instant, deadline: ContinuousClock.Instant
    ) {
        self.start = start
        self.aim = aim
        self.deadline = deadline
    }

    /// Seconds until the aim; negative past it.
    package var secondsLeft: Double { ContinuousClock.now.duration(to: aim) / .seconds(1) }
    /// Seconds since the start.
    package var secondsSpent: Double { start.duration(to: .now) / .seconds(1) }

    /// A clock for a part of the work, that has so much of the time that is left.
    package func share(_ share: Double) -> WorkClock {
        let now = ContinuousClock.now
        return WorkClock(start: now, deadline: now + now.duration(to: aim) * share)
    }

    /// The same, but with the whole work's deadline: past the share's end it is late, not yet lost.
    func share(_ share: Double, until deadline: ContinuousClock.Instant) -> WorkClock {
        let now = ContinuousClock.now
        return WorkClock(start: now, aim: now + now.duration(to: aim) * share, deadline: deadline)
    }
}
