import LibAV
import RichPush

/// One encoding after another, each knowing what the one before showed.
struct MovieAttempt {
    /// How much of the bytes is aimed at once steering has failed.
    private static let carefulShare = 0.95

    private(set) var load: MovieLoad
    private(set) var choice: MovieChoice
    private(set) var steering: QualitySteering
    private let cut: Double?
    private var seconds = 0.0

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
        let expected = ladder.expectedBytes(choice)
        return (
            choice,
            QualitySteering(
                budget: load.bytesMax, best: load.qualityBest, bytes: expected.bytes, at: expected.quality)
        )
    }

    /// Notes how long an encoding took.
    mutating func took(_ seconds: Double) { self.seconds = seconds }

    /// Whether the file is too far from what it may be, and another one can be made in time.
    ///
    /// One that is still a whole file is overwritten only when the next is as good as certain.
    func isWorthAnother(_ written: MovieWritten, bytesMax: Int, secondsLeft: Double) -> Bool {
        guard written.stoppedAt == nil, let steering = written.steering, secondsLeft > seconds * 1.4 else {
            return false
        }
        let isShort = Double(written.bytes) < Double(bytesMax) * Limits.movieFillShareMin
        return isShort && steering.quality > load.qualityBest + 0.5
    }

    /// Begins anew with the rate factor that would have been right.
    mutating func correct(by measured: QualitySteering) {
        steering = QualitySteering(
            budget: load.bytesMax, best: load.qualityBest, bytes: measured.measured, at: 0, isMeasured: true)
    }

    /// Begins anew after a file that became too large.
    mutating func shrink(by measured: QualitySteering, secondsLeft: Double) {
        load.bytesMax *= Self.carefulShare
        load.secondsLeft = secondsLeft
        let expected = MovieLadder(load: load).expectedBytes(choice)
        let needed = measured.measured / QualitySteering.factor(expected.quality)
        load.pilotBytes *= max(1, needed / max(1, expected.bytes))
        (choice, steering) = Self.choose(load, cut)
    }

    /// Begins anew, faster.
    mutating func hurry(_ slowness: Double, secondsLeft: Double) {
        load.secondsPerFrame *= slowness
        load.secondsPerMegapixel *= slowness
        load.secondsLeft = secondsLeft
        (choice, steering) = Self.choose(load, cut)
    }
}
