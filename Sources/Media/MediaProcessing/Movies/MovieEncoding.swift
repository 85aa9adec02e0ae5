import AttachPrepModel
import MediaLibraries
import MediaTypes

/// Encodes a movie repeatedly until it is within the byte and time limits.
struct MovieEncoding {
    /// Maximum number of passes.
    private static let triesMax = 6

    let bytesMax: Int
    let clock: WorkClock

    /// - Parameter pass: Writes the file once; may throw `MovieEncodeError.behind` only if `canRestart` is true.
    /// - Returns: The result of the last pass and its settings.
    func run(
        _ estimate: EncodeEstimate, cut: Double?,
        pass: (MovieChoice, RateController, _ canRestart: Bool) throws -> MoviePassResult
    ) throws -> (choice: MovieChoice, written: MoviePassResult) {
        var attempt = MovieAttempt(estimate: estimate, cut: cut)
        for round in 1...Self.triesMax {
            let isLast = round + 1 >= Self.triesMax
            let start = clock.secondsSpent
            do {
                let written = try pass(attempt.choice, attempt.rateController, !isLast && attempt.canSpeedUp)
                try checkLength(written, of: min(estimate.duration, cut ?? .infinity))
                let shouldEncodeAgain = attempt.shouldEncodeAgain(
                    written, seconds: clock.secondsSpent - start, bytesMax: bytesMax, secondsLeft: clock.secondsLeft,
                    isLast: isLast)
                if shouldEncodeAgain, round < Self.triesMax { continue }
                return (attempt.choice, written)
            } catch MovieEncodeError.overLimit(let rateController) {
                guard let rateController else { break }
                attempt.shrink(
                    after: rateController, seconds: clock.secondsSpent - start, secondsLeft: clock.secondsLeft,
                    isLast: isLast)
            } catch MovieEncodeError.behind(let slowness) {
                attempt.speedUp(slowness, secondsLeft: clock.secondsLeft)
            }
        }
        throw AttachPrepError(
            .limitExceeded, "The movie cannot be reduced to \(bytesMax.grouped) bytes; raise the limit.")
    }

    /// Throws if too little was encoded to be useful: the caller can fall back to something else.
    private func checkLength(_ written: MoviePassResult, of whole: Double) throws {
        guard let end = written.stoppedAt, end < min(Limits.movieCutSecondsMin, whole / 2) else { return }
        throw AttachPrepError(
            .deadlineExceeded, "The time for the request ran out while the movie was encoded; allow more time.")
    }
}

/// Settings of the current pass, refined with the results of previous passes.
struct MovieAttempt {
    /// Factor by which the byte budget is reduced after a pass that became too large.
    private static let carefulShare = 0.97

    /// Part of the remaining time that a better encoding may take, and the increase in pixels that makes it worthwhile.
    private static let secondChanceShare = 0.8
    private static let gainMin = 1.5

    private(set) var estimate: EncodeEstimate
    private(set) var choice: MovieChoice
    private(set) var rateController: RateController
    private let cut: Double?
    private var seen: [(quality: Double, bytes: Double)] = []
    /// The rate controller of the largest complete file that fits, and its size; repeating the pass gives the same
    /// file.
    private var good: (rateController: RateController, bytes: Int)?

    /// - Parameter cut: Seconds kept because even the audio alone would be too large; nil for all.
    init(estimate: EncodeEstimate, cut: Double?) {
        self.estimate = estimate
        self.cut = cut
        (choice, rateController) = Self.choose(estimate, cut: cut)
    }

    private static func choose(_ estimate: EncodeEstimate, cut: Double?) -> (MovieChoice, RateController) {
        let ladder = MovieLadder(estimate: estimate)
        var choice = ladder.choice
        choice.cut = choice.cut ?? cut
        return (
            choice,
            RateController(
                targetBytes: estimate.bytesMax, best: estimate.qualityBest, curve: ladder.expectation(choice))
        )
    }

    /// Decides whether a file that was written in `seconds` is kept or encoded again with better settings.
    ///
    /// - Returns: Whether to encode again.
    mutating func shouldEncodeAgain(
        _ written: MoviePassResult, seconds: Double, bytesMax: Int, secondsLeft: Double, isLast: Bool
    ) -> Bool {
        guard written.stoppedAt == nil, let ended = written.rateController else { return false }
        if choice.isForcedByTime { return !isLast && canImprove(than: seconds, secondsLeft: secondsLeft) }
        let isBest = written.bytes >= good?.bytes ?? 0
        let isShort = Double(written.bytes) < Double(bytesMax) * Limits.movieFillShareMin
        guard isShort || !isBest, ended.quality > estimate.qualityBest + 0.3 || !isBest else { return false }
        // Leaves time for the next pass and, if that fails, for repeating this one.
        guard secondsLeft > seconds * (isBest ? 2.4 : 1.3) else { return false }
        if isBest { good = (rateController, written.bytes) }
        if isLast, !isBest { return revertToBest() }
        record(ended)
        // Bytes that audio and index do not use are available for video.
        estimate.bytesMax = max(
            estimate.bytesMax, Double(bytesMax) * Limits.movieFillShare - Double(written.bytes - written.videoBytes))
        return !isLast
    }

    /// Whether the pass was so much faster than planned that a better encoding fits the remaining time; prepares it if
    /// so.
    private mutating func canImprove(than seconds: Double, secondsLeft: Double) -> Bool {
        let pace = seconds / max(0.001, MovieLadder(estimate: estimate).seconds(choice))
        var quicker = estimate
        quicker.secondsPerFrame *= pace
        quicker.secondsPerMegapixel *= pace
        quicker.secondsLeft = secondsLeft * Self.secondChanceShare
        let (better, rateController) = Self.choose(quicker, cut: cut)
        let gain = Double(better.shape.pixels) / Double(choice.shape.pixels)
        let isLarger = gain >= Self.gainMin
        let isBetter =
            gain >= 1 && (better.preset > choice.preset || better.skipping.rawValue < choice.skipping.rawValue)
        // More pixels are no improvement if fewer frames are kept.
        let isAsSmooth =
            better.skipping.rawValue <= choice.skipping.rawValue
            && better.frameRateMax ?? .infinity >= choice.frameRateMax ?? .infinity
        guard isAsSmooth, isLarger || isBetter, MovieLadder(estimate: quicker).seconds(better) <= quicker.secondsLeft
        else {
            return false
        }
        (estimate, choice, self.rateController) = (quicker, better, rateController)
        return true
    }

    /// Returns to the settings of the best file; false if there is none.
    mutating func revertToBest() -> Bool {
        guard let good else { return false }
        rateController = good.rateController
        return true
    }

    /// Prepares a restart after a pass of `seconds` that became too large.
    mutating func shrink(after ended: RateController, seconds: Double, secondsLeft: Double, isLast: Bool) {
        let whole = seconds / max(0.1, ended.share)
        if isLast || secondsLeft < whole * 2, revertToBest() { return }
        estimate.bytesMax *= Self.carefulShare
        estimate.secondsLeft = secondsLeft
        record(ended)
        if whole > secondsLeft * 0.8 { choice.preset = min(choice.preset, Self.choose(estimate, cut: cut).0.preset) }
        if good == nil, rateController.quality > Limits.movieQualityFloor {
            let expected = MovieLadder(estimate: estimate).expectation(choice)
            estimate.curve.bytes *= rateController.curveBytes(at: expected.quality) / expected.bytes
            seen = []
            (choice, rateController) = Self.choose(estimate, cut: cut)
        }
    }

    /// Starts a new rate controller with the rate factor derived from all observations.
    private mutating func record(_ ended: RateController) {
        guard let new = ended.observation else { return }
        let expected = MovieLadder(estimate: estimate).expectation(choice)
        let nearest = seen.min { abs($0.bytes - estimate.bytesMax) < abs($1.bytes - estimate.bytesMax) }
        seen.append(new)
        let curve = RateCurve(new, nearest ?? (expected.quality, expected.bytes))
        let steps = nearest == nil ? min(curve.steps, max(expected.steps, RateCurve.usualSteps)) : curve.steps
        rateController = RateController(
            targetBytes: estimate.bytesMax, best: estimate.qualityBest,
            curve: RateCurve(bytes: new.bytes, at: new.quality, steps: steps), isMeasured: true)
    }

    /// Whether restarting with faster settings would be significantly faster.
    var canSpeedUp: Bool {
        var faster = self
        faster.speedUp(1.5, secondsLeft: estimate.secondsLeft * 0.8)
        return MovieLadder(estimate: estimate).seconds(faster.choice) < MovieLadder(estimate: estimate).seconds(choice)
            * 0.8
    }

    /// Prepares a restart with faster settings.
    mutating func speedUp(_ slowness: Double, secondsLeft: Double) {
        estimate.secondsPerFrame *= slowness
        estimate.secondsPerMegapixel *= slowness
        estimate.secondsLeft = secondsLeft
        seen = []
        (choice, rateController) = Self.choose(estimate, cut: cut)
    }
}

extension Limits {
    /// A shrunk movie below this share of the limit is encoded again, if there is time.
    static let movieFillShareMin = 0.86
    /// The shortest useful cut in seconds, unless it is half of the source.
    static let movieCutSecondsMin = 2.0
}
