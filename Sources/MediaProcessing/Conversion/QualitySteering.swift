import Foundation
import RichPush

/// Holds an encoder to a number of bytes by small changes of its rate factor on the way.
///
/// A constant rate factor spends bytes where they are needed, as two passes do; what is not known before is how many
/// that will be. So what comes out is compared with what is left, weighed by what the source itself needed.
struct QualitySteering: Sendable {
    /// Steps of the rate factor that double the bytes.
    static let stepsPerDoubling = 6.0
    /// The part of the movie whose experience weighs as much as the pilot's.
    private static let pilotShare = 0.12
    /// Steps the rate factor may change by at once.
    private static let stepMax = 0.75
    /// And near the end, where nothing can be made up for later.
    private static let lastStepMax = 4.0
    /// Changes smaller than this are noise.
    private static let stepMin = 0.15
    /// x264's own worst.
    private static let qualityWorst = 51.0

    /// Bytes the pictures may have.
    let budget: Double
    /// The best rate factor there may be; bytes beyond it are left.
    let best: Double
    /// The rate factor in force.
    private(set) var quality: Double
    /// Bytes all pictures would take at the rate factor 0 of this scale, by the pilot.
    private let expected: Double
    private let confidence: Double
    private var spent = 0.0
    private var share = 0.0
    /// Bytes so far, as if the rate factor had been 0 throughout.
    private var normalized = 0.0

    /// - Parameters:
    ///   - bytes: What the pictures would take at a rate factor.
    ///   - isMeasured: Whether that was measured on the whole movie, not on samples of it.
    init(budget: Double, best: Double, bytes: Double, at quality: Double, isMeasured: Bool = false) {
        self.budget = budget
        self.best = best
        expected = bytes * Self.factor(quality)
        confidence = isMeasured ? Self.pilotShare * 8 : Self.pilotShare
        let fitting = Self.stepsPerDoubling * log2(max(1, expected) / max(1, budget))
        self.quality = min(Self.qualityWorst, max(best, fitting))
    }

    /// What was measured so far: bytes of the whole movie at the rate factor 0 of this scale.
    var measured: Double { share > 0 ? normalized / share : expected }

    /// Takes account of packets that came out.
    ///
    /// - Parameters:
    ///   - bytes: Of the packets since the last call.
    ///   - share: Part of the movie, by weight, that is written by now.
    /// - Returns: The new rate factor, when it changes.
    mutating func note(bytes: Int, share: Double) -> Double? {
        spent += Double(bytes)
        normalized += Double(bytes) * Self.factor(quality)
        self.share = max(self.share, min(1, share))
        // An encoder gives its first keyframe alone.
        if self.share < 0.02 { return nil }
        let wanted = min(Self.qualityWorst, max(best, fitting))
        let limit = self.share > 0.8 ? Self.lastStepMax : Self.stepMax
        let step = max(-limit, min(limit, wanted - quality))
        if abs(step) < Self.stepMin { return nil }
        quality += step
        return quality
    }

    /// The rate factor at which the rest takes the bytes that are left.
    private var fitting: Double {
        let believed = (expected * confidence + measured * share) / (confidence + share)
        let rest = believed * max(0.01, 1 - share)
        let left = budget - spent
        guard left > rest / Self.factor(Self.qualityWorst) else { return Self.qualityWorst }
        return Self.stepsPerDoubling * log2(rest / left)
    }

    /// How many times fewer bytes a rate factor gives than 0 would.
    static func factor(_ quality: Double) -> Double { pow(2, quality / stepsPerDoubling) }
}
