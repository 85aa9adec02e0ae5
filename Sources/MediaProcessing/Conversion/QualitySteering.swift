import Foundation

/// What a movie's pictures take in bytes at one rate factor, and how that changes with it.
// Bounded throughout: floating point.
struct RateCurve: Sendable, Hashable {
    /// Steps of the rate factor that double the bytes: 6 for most movies, far fewer where noise gives way at once.
    static let usualSteps = 6.0
    static let stepsRange = 2.0...9.0
    /// x264's own worst.
    static let qualityWorst = 51.0

    /// Bytes of all pictures at the rate factor.
    var bytes: Double
    var quality: Double
    var steps: Double

    init(bytes: Double, at quality: Double, steps: Double = usualSteps) {
        self.bytes = max(1, bytes)
        self.quality = quality
        self.steps = min(Self.stepsRange.upperBound, max(Self.stepsRange.lowerBound, steps))
    }

    /// The curve through two measurements; the first one is trusted where both are nearly the same.
    init(_ one: (quality: Double, bytes: Double), _ other: (quality: Double, bytes: Double)) {
        let doublings = log2(max(1, one.bytes) / max(1, other.bytes))
        let distance = other.quality - one.quality
        let isTelling = abs(distance) > 0.3 && doublings * distance > 0
        self.init(bytes: one.bytes, at: one.quality, steps: isTelling ? distance / doublings : Self.usualSteps)
    }

    /// Bytes at a rate factor.
    func bytes(at quality: Double) -> Double { bytes * pow(2, (self.quality - quality) / steps) }

    /// The rate factor for a number of bytes.
    func quality(for bytes: Double) -> Double { quality + steps * log2(self.bytes / max(1, bytes)) }
}

/// Holds an encoder to a number of bytes by small changes of its rate factor on the way.
///
/// A constant rate factor spends bytes where they are needed, as two passes do; what is not known before is how many
/// that will be. So what comes out is compared with what is left, weighed by what the source itself needed.
// Bounded throughout: floating point.
struct QualitySteering: Sendable {
    /// The part of the movie whose experience weighs as much as the pilot's, and as much as a whole encoding's.
    private static let pilotShare = 0.12
    private static let measuredShare = 1.0
    /// Steps the rate factor may change by at once, and for the part of the movie since the last time.
    private static let stepMax = 0.75
    private static let stepsPerShare = 20.0
    /// And near the end, where nothing can be made up for later.
    private static let lastStepMax = 4.0
    /// Changes smaller than this are noise.
    private static let stepMin = 0.15
    /// How far from the budget the forecast may be before anything is changed, as shares.
    private static let calm = 0.975...1.01

    /// Bytes the pictures may have; may change on the way, when the sound takes more or less than was thought.
    var budget: Double
    /// The best rate factor there may be; bytes beyond it are left.
    let best: Double
    /// The rate factor in force.
    private(set) var quality: Double
    private(set) var share = 0.0
    private let curve: RateCurve
    private let confidence: Double
    private var spent = 0.0
    /// Bytes so far, as if the rate factor had been the curve's throughout.
    private var normalized = 0.0
    private var qualities = 0.0

    /// - Parameter isMeasured: Whether the curve was measured on the whole movie, not on samples of it.
    init(budget: Double, best: Double, curve: RateCurve, isMeasured: Bool = false) {
        self.budget = budget
        self.best = best
        self.curve = curve
        confidence = isMeasured ? Self.measuredShare : Self.pilotShare
        quality = min(RateCurve.qualityWorst, max(best, curve.quality(for: budget)))
    }

    /// What this encoding says: the average rate factor, and bytes of the whole movie; nil when it had hardly begun.
    var observation: (quality: Double, bytes: Double)? {
        share > 0.03 ? (qualities / share, spent / share) : nil
    }

    /// What is believed of the whole movie's bytes at a rate factor.
    func curveBytes(at quality: Double) -> Double { curve.bytes(at: quality) }

    /// Takes account of packets that came out.
    ///
    /// - Parameters:
    ///   - bytes: Of the packets since the last call.
    ///   - share: Part of the movie, by weight, that is written by now.
    /// - Returns: The new rate factor, when it changes.
    mutating func note(bytes: Int, share: Double) -> Double? {
        let progress = max(0, min(1, share) - self.share)
        spent += Double(bytes)
        normalized += Double(bytes) * curve.bytes / curve.bytes(at: quality)
        qualities += quality * progress
        self.share += progress
        // An encoder gives its first keyframe alone.
        if self.share < 0.02 { return nil }
        if Self.calm.contains(forecast / max(1, budget)) { return nil }
        let wanted = min(RateCurve.qualityWorst, max(best, fitting))
        let usual = max(Self.stepMax, Self.stepsPerShare * progress)
        let limit = self.share > 0.8 ? max(usual, Self.lastStepMax) : usual
        let step = max(-limit, min(limit, wanted - quality))
        if abs(step) < Self.stepMin { return nil }
        quality += step
        return quality
    }

    /// Bytes of all pictures, if the rate factor stays.
    private var forecast: Double { spent + rest * curve.bytes(at: quality) / curve.bytes }

    /// Bytes of what is still to come, at the curve's rate factor.
    private var rest: Double {
        let measured = share > 0 ? normalized / share : curve.bytes
        let believed = (curve.bytes * confidence + measured * share) / (confidence + share)
        return believed * max(0.01, 1 - share)
    }

    /// The rate factor at which the rest takes the bytes that are left.
    private var fitting: Double {
        let left = budget - spent
        if left <= 0 { return RateCurve.qualityWorst }
        return RateCurve(bytes: rest, at: curve.quality, steps: curve.steps).quality(for: left)
    }
}
