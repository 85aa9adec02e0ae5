/// Where decoded samples belong, by the times the container gives them.
///
/// Containers round times, recorders lose packets, broadcasts jump. What is a little off is let be, what is off for
/// good is filled with silence or cut, and a jump is closed.
// Bounded throughout: floating point.
struct SoundTimeline: Sendable, Hashable {
    /// What has to be done before a run of samples is taken, in seconds.
    enum Placement: Sendable, Hashable {
        case follows
        case silence(Double)
        /// So much of the run was heard already; perhaps all of it.
        case overlap(Double)
    }

    /// Containers that count in milliseconds, or packets, are off by less. Half of what is felt as out of sync.
    private static let tolerance = 0.02
    /// What is off by more is no jitter.
    private static let toleranceOnce = 0.1
    /// Runs in a row that are off before it is believed.
    private static let straysMax = 8
    /// At the beginning there is no jitter yet.
    private static let toleranceAtStart = 0.001

    /// Jumps of more seconds are closed.
    let jumpMin: Double
    /// Where the samples taken so far end, in seconds of the sound that is made.
    private(set) var end = 0.0
    private var shift = 0.0
    private var strays = 0
    private var hasBegun = false

    init(jumpMin: Double) { self.jumpMin = jumpMin }

    /// Places a run of samples; without a time it follows what was there before.
    mutating func place(at time: Double?, lasting seconds: Double) -> Placement {
        defer { hasBegun = true }
        let placement = time.map { place($0 + shift - end, seconds) } ?? .follows
        switch placement {
        case .follows: end += seconds
        case .silence(let gap): end += gap + seconds
        case .overlap(let part): end += max(0, seconds - part)
        }
        return placement
    }

    /// Leaves a place for what could not be decoded.
    mutating func skip(_ seconds: Double) { end += seconds }

    private mutating func place(_ deviation: Double, _ seconds: Double) -> Placement {
        if abs(deviation) > jumpMin {
            shift -= deviation
            strays = 0
            return .follows
        }
        if !isBelieved(deviation) { return .follows }
        if deviation > 0 {
            strays = 0
            return .silence(deviation)
        }
        // The rest of an overlap is not to wait until it is believed again.
        strays = Self.straysMax
        return .overlap(min(seconds, -deviation))
    }

    private mutating func isBelieved(_ deviation: Double) -> Bool {
        if !hasBegun { return abs(deviation) > Self.toleranceAtStart }
        if abs(deviation) <= Self.tolerance {
            strays = 0
            return false
        }
        strays += 1
        return abs(deviation) > Self.toleranceOnce || strays >= Self.straysMax
    }
}
