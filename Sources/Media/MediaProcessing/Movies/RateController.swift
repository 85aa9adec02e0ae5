import Foundation

/// Models a movie's video bytes as a function of the rate factor.
struct RateCurve: Sendable, Hashable {
    /// Rate factor steps that double the bytes: 6 for most movies, far fewer for noisy ones.
    static let usualSteps = 6.0
    static let stepsRange = 2.0...9.0
    /// x264's highest rate factor.
    static let qualityWorst = 51.0

    /// Bytes of the whole video at rate factor `quality`.
    var bytes: Double
    var quality: Double
    var steps: Double

    init(bytes: Double, at quality: Double, steps: Double = usualSteps) {
        self.bytes = max(1, bytes)
        self.quality = quality
        self.steps = min(Self.stepsRange.upperBound, max(Self.stepsRange.lowerBound, steps))
    }

    /// The curve through two measurements; if they are nearly equal, the first one with the usual slope.
    init(_ one: (quality: Double, bytes: Double), _ other: (quality: Double, bytes: Double)) {
        let doublings = log2(max(1, one.bytes) / max(1, other.bytes))
        let distance = other.quality - one.quality
        let isConclusive = abs(distance) > 0.3 && doublings * distance > 0
        self.init(bytes: one.bytes, at: one.quality, steps: isConclusive ? distance / doublings : Self.usualSteps)
    }

    /// Bytes at a rate factor.
    func bytes(at quality: Double) -> Double { bytes * pow(2, (self.quality - quality) / steps) }

    /// The rate factor for a number of bytes.
    func quality(for bytes: Double) -> Double { quality + steps * log2(self.bytes / max(1, bytes)) }
}

/// Keeps an encoder within a byte budget by small changes of its rate factor during the pass.
///
/// A constant rate factor distributes bytes by need, as two passes do, but their total is not known beforehand.
/// Therefore the bytes used are compared with the budget, weighted by the source's own bytes.
struct RateController: Sendable {
    /// Parts of the movie after which the pass's own bytes weigh as much as the trial's, and as a previous full pass's.
    private static let trialShare = 0.12
    private static let measuredShare = 1.0
    /// Maximum change of the rate factor at once, and per share of the movie since the last change.
    private static let stepMax = 0.75
    private static let stepsPerShare = 20.0
    /// Maximum change near the end, where nothing can be corrected later.
    private static let lastStepMax = 4.0
    /// Minimum change; smaller ones are noise.
    private static let stepMin = 0.15
    /// Range of the ratio of forecast to budget in which nothing is changed.
    private static let deadBand = 0.975...1.01

    /// Bytes available for video; can change during the pass with the bytes that audio uses.
    var targetBytes: Double
    /// Lowest rate factor, that is, the best quality allowed; bytes beyond it stay unused.
    let best: Double
    /// The current rate factor.
    private(set) var quality: Double
    private(set) var share = 0.0
    private let curve: RateCurve
    private let confidence: Double
    private var spent = 0.0
    /// Bytes so far, converted to the curve's rate factor.
    private var normalized = 0.0
    private var qualities = 0.0

    /// - Parameter isMeasured: Whether the curve was measured on the whole movie, not on samples of it.
    init(targetBytes: Double, best: Double, curve: RateCurve, isMeasured: Bool = false) {
        self.targetBytes = targetBytes
        self.best = best
        self.curve = curve
        confidence = isMeasured ? Self.measuredShare : Self.trialShare
        quality = min(RateCurve.qualityWorst, max(best, curve.quality(for: targetBytes)))
    }

    /// Result of the pass: average rate factor and extrapolated bytes of the whole movie; nil at the very beginning.
    var observation: (quality: Double, bytes: Double)? {
        share > 0.03 ? (qualities / share, spent / share) : nil
    }

    /// Expected bytes of the whole movie at a rate factor.
    func curveBytes(at quality: Double) -> Double { curve.bytes(at: quality) }

    /// Accounts for encoded packets and adjusts the rate factor.
    ///
    /// - Parameters:
    ///   - bytes: Bytes of the packets since the last call.
    ///   - share: Weighted part of the movie written so far.
    /// - Returns: The new rate factor; nil if it does not change.
    mutating func record(bytes: Int, share: Double) -> Double? {
        let progress = max(0, min(1, share) - self.share)
        spent += Double(bytes)
        normalized += Double(bytes) * curve.bytes / curve.bytes(at: quality)
        qualities += quality * progress
        self.share += progress
        // At first the encoder has output only a keyframe.
        if self.share < 0.02 { return nil }
        if Self.deadBand.contains(forecast / max(1, targetBytes)) { return nil }
        let wanted = min(RateCurve.qualityWorst, max(best, fitting))
        let usual = max(Self.stepMax, Self.stepsPerShare * progress)
        let limit = self.share > 0.8 ? max(usual, Self.lastStepMax) : usual
        let step = max(-limit, min(limit, wanted - quality))
        if abs(step) < Self.stepMin { return nil }
        quality += step
        return quality
    }

    /// Expected bytes of the whole video at the current rate factor.
    private var forecast: Double { spent + rest * curve.bytes(at: quality) / curve.bytes }

    /// Expected bytes of the remaining frames, at the curve's rate factor.
    private var rest: Double {
        let measured = share > 0 ? normalized / share : curve.bytes
        let estimated = (curve.bytes * confidence + measured * share) / (confidence + share)
        return estimated * max(0.01, 1 - share)
    }

    /// The rate factor at which the remaining frames take the remaining bytes.
    private var fitting: Double {
        let left = targetBytes - spent
        if left <= 0 { return RateCurve.qualityWorst }
        return RateCurve(bytes: rest, at: curve.quality, steps: curve.steps).quality(for: left)
    }
}
