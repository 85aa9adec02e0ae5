import LibAV
import RichPush

/// Encodes as often as it takes to be within bytes and time.
// Bounded throughout: floating point, and a few rounds.
struct MovieEncoding {
    /// Encodings of one movie at most.
    private static let triesMax = 6

    let bytesMax: Int
    let clock: WorkClock

    /// - Parameter pass: Writes the file once; may say that it is behind only where it is told that it may.
    /// - Returns: What the last pass wrote, and how.
    func run(
        _ load: MovieLoad, cut: Double?, pass: (MovieChoice, QualitySteering, _ canRestart: Bool) throws -> MovieWritten
    ) throws -> (choice: MovieChoice, written: MovieWritten) {
        var attempt = MovieAttempt(load: load, cut: cut)
        for round in 1...Self.triesMax {
            let isLast = round + 1 >= Self.triesMax
            let start = clock.secondsSpent
            do {
                let written = try pass(attempt.choice, attempt.steering, !isLast && attempt.canHurry)
                try checkLength(written, of: min(load.duration, cut ?? .infinity))
                let isWorthAnother = attempt.isWorthAnother(
                    written, seconds: clock.secondsSpent - start, bytesMax: bytesMax, secondsLeft: clock.secondsLeft,
                    isLast: isLast)
                if isWorthAnother, round < Self.triesMax { continue }
                return (attempt.choice, written)
            } catch MovieFailure.overLimit(let steering) {
                guard let steering else { break }
                attempt.shrink(
                    after: steering, seconds: clock.secondsSpent - start, secondsLeft: clock.secondsLeft,
                    isLast: isLast)
            } catch MovieFailure.behind(let slowness) {
                attempt.hurry(slowness, secondsLeft: clock.secondsLeft)
            }
        }
        throw AttachPrepError(
            .limitExceeded, "The movie cannot be brought under \(bytesMax.grouped) bytes; allow it more.")
    }

    /// So little that it says nothing is worse than none: something else can be shown instead.
    private func checkLength(_ written: MovieWritten, of whole: Double) throws {
        guard let end = written.stoppedAt, end < min(Limits.movieCutSecondsMin, whole / 2) else { return }
        throw AttachPrepError(
            .deadlineExceeded, "The time for the request ran out while the movie was encoded; allow it more.")
    }
}
