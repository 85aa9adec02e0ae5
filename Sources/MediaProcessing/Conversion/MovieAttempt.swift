import LibAV
import RichPush

/// One encoding after another, each knowing what the ones before showed.
// Bounded throughout: floating point.
struct MovieAttempt {
    /// How much of the bytes is aimed at once steering has failed.
    private static let carefulShare = 0.97

    /// Part of the time left that a better encoding may take, and how many times more pixels make it worth it.
    private static let secondChanceShare = 0.8
    private static let gainMin = 1.5

    private(set) var load: MovieLoad
    private(set) var choice: MovieChoice
    private(set) var steering: QualitySteering
    private let cut: Double?
    private var seen: [(quality: Double, bytes: Double)] = []
    /// The steering that gave a whole file that fits, and its bytes: the same again gives the same again.
    private var good: (steering: QualitySteering, bytes: Int)?

    /// - Parameter cut: Seconds that are kept because even the sound alone would be too large.
    init(load: MovieLoad, cut: Double?) {
        self.load = load
        self.cut = cut
        (choice, steering) = Self.choose(load, cut)
    }

    private static func choose(_ load: MovieLoad, _ cut: Double?) -> (MovieChoice, QualitySteering) {
        let ladder = MovieLadder(load: load)
        var choice = ladder.choice
        choice.cut = choice.cut ?? cut
        return (
            choice, QualitySteering(budget: load.bytesMax, best: load.qualityBest, curve: ladder.expectation(choice))
        )
    }

    /// What to do with a file that was written in so many seconds: keep it, or make a better one.
    ///
    /// - Returns: Whether to go on.
    mutating func isWorthAnother(
        _ written: MovieWritten, seconds: Double, bytesMax: Int, secondsLeft: Double, isLast: Bool
    ) -> Bool {
        guard written.stoppedAt == nil, let ended = written.steering else { return false }
        if choice.isForcedByTime { return !isLast && isPossibleBetter(than: seconds, secondsLeft: secondsLeft) }
        let isBest = written.bytes >= good?.bytes ?? 0
        let isShort = Double(written.bytes) < Double(bytesMax) * Limits.movieFillShareMin
        guard isShort || !isBest, ended.quality > load.qualityBest + 0.3 || !isBest else { return false }
        // The next one, and this one once more if that fails.
        guard secondsLeft > seconds * (isBest ? 2.4 : 1.3) else { return false }
        if isBest { good = (steering, written.bytes) }
        if isLast, !isBest { return retreat() }
        learn(ended)
        // What is not used by sound and index is there for pictures.
        load.bytesMax = max(
            load.bytesMax, Double(bytesMax) * Limits.movieFillShare - Double(written.bytes - written.videoBytes))
        return !isLast
    }

    /// Whether it went so much faster than planned that there is time for much more of it; sets out for that then.
    private mutating func isPossibleBetter(than seconds: Double, secondsLeft: Double) -> Bool {
        let pace = seconds / max(0.001, MovieLadder(load: load).seconds(choice))
        var quicker = load
        quicker.secondsPerFrame *= pace
        quicker.secondsPerMegapixel *= pace
        quicker.secondsLeft = secondsLeft * Self.secondChanceShare
        let (better, steering) = Self.choose(quicker, cut)
        let gain = Double(better.shape.pixels) / Double(choice.shape.pixels)
        let isLarger = gain >= Self.gainMin
        let isFiner = gain >= 1 && (better.preset > choice.preset || better.haste.rawValue < choice.haste.rawValue)
        // More pixels are no gain where fewer pictures are left.
        let isAsSmooth =
            better.haste.rawValue <= choice.haste.rawValue
            && better.frameRateMax ?? .infinity >= choice.frameRateMax ?? .infinity
        guard isAsSmooth, isLarger || isFiner, MovieLadder(load: quicker).seconds(better) <= quicker.secondsLeft else {
            return false
        }
        (load, choice, self.steering) = (quicker, better, steering)
        return true
    }

    /// Goes back to what gave a good file; false when nothing did.
    mutating func retreat() -> Bool {
        guard let good else { return false }
        steering = good.steering
        return true
    }

    /// Begins anew after a file that became too large, which took so many seconds.
    mutating func shrink(after ended: QualitySteering, seconds: Double, secondsLeft: Double, isLast: Bool) {
        let whole = seconds / max(0.1, ended.share)
        if isLast || secondsLeft < whole * 2, retreat() { return }
        load.bytesMax *= Self.carefulShare
        load.secondsLeft = secondsLeft
        learn(ended)
        if whole > secondsLeft * 0.8 { choice.preset = min(choice.preset, Self.choose(load, cut).0.preset) }
        if good == nil, steering.quality > Limits.movieQualityFloor {
            let expected = MovieLadder(load: load).expectation(choice)
            load.curve.bytes *= steering.curveBytes(at: expected.quality) / expected.bytes
            seen = []
            (choice, steering) = Self.choose(load, cut)
        }
    }

    /// Sets out anew with the rate factor that would have been right, by all that was seen.
    private mutating func learn(_ ended: QualitySteering) {
        guard let new = ended.observation else { return }
        let expected = MovieLadder(load: load).expectation(choice)
        let nearest = seen.min { abs($0.bytes - load.bytesMax) < abs($1.bytes - load.bytesMax) }
        seen.append(new)
        let curve = RateCurve(new, nearest ?? (expected.quality, expected.bytes))
        let steps = nearest == nil ? min(curve.steps, max(expected.steps, RateCurve.usualSteps)) : curve.steps
        steering = QualitySteering(
            budget: load.bytesMax, best: load.qualityBest,
            curve: RateCurve(bytes: new.bytes, at: new.quality, steps: steps), isMeasured: true)
    }

    /// Whether beginning anew would be any faster.
    var canHurry: Bool {
        var hurried = self
        hurried.hurry(1.5, secondsLeft: load.secondsLeft * 0.8)
        return MovieLadder(load: load).seconds(hurried.choice) < MovieLadder(load: load).seconds(choice) * 0.8
    }

    /// Begins anew, faster.
    mutating func hurry(_ slowness: Double, secondsLeft: Double) {
        load.secondsPerFrame *= slowness
        load.secondsPerMegapixel *= slowness
        load.secondsLeft = secondsLeft
        seen = []
        (choice, steering) = Self.choose(load, cut)
    }
}
