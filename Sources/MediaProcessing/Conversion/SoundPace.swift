import RichPush

/// Whether an encoding will be through in time, by how quick it was so far.
// Bounded throughout: floating point.
struct SoundPace {
    /// Seconds of work before its pace is believed.
    private static let warmUpSeconds = 0.2
    /// Looks at the clock: each so many seconds of sound.
    private static let stepSeconds = 0.5
    /// Part of the time left that a shorter sound is planned for: pace varies.
    private static let planShare = 0.85

    private let clock: WorkClock
    private let start: ContinuousClock.Instant
    private var wanted: Double
    private var nextLook = 0.0
    /// Whether the sound is shorter than was wanted.
    private(set) var isCut = false

    /// - Parameter seconds: Of sound that are wanted.
    init(clock: WorkClock, seconds: Double) {
        self.clock = clock
        start = .now
        wanted = seconds
    }

    /// Where the sound has to end to be in time, when that is earlier than what was wanted so far.
    ///
    /// - Parameter done: Seconds of sound that are encoded.
    /// - Throws: `deadline.exceeded` when nothing worth hearing can be made in time.
    mutating func end(after done: Double) throws -> Double? {
        if done < nextLook || done >= wanted { return nil }
        nextLook = done + Self.stepSeconds
        let spent = start.duration(to: .now) / .seconds(1)
        let left = clock.secondsLeft
        if spent < Self.warmUpSeconds, left > Self.warmUpSeconds { return nil }
        let pace = done / max(spent, 0.001)
        if (wanted - done) <= pace * left { return nil }
        let end = done + max(0, left) * pace * Self.planShare
        if end < min(wanted, Limits.soundCutSecondsMin) {
            throw AttachPrepError(.deadlineExceeded, "The time for the request ran out while the sound was encoded.")
        }
        wanted = end
        isCut = true
        return end
    }
}
