import LibAV
import RichPush
import SafeArithmetic

/// Encodes a sound, measures it, and tries again until it lies close under its limit.
// Bounded throughout: floating point.
struct SoundFitting {
    /// What was written.
    struct Fitted {
        let outcome: SoundEncoding.Outcome
        /// Seconds of the sound.
        let seconds: Double
        /// Bytes of the file.
        let bytes: Int
        /// Whether the end was left out to fit.
        let isPrefix: Bool
    }

    /// Part of the time left that another pass may take, going by the one before.
    private static let passShare = 0.8
    /// Bytes that a higher rate has to add; where it adds less the sound needs no more.
    private static let gainMin = 1.03
    /// Packets that are kept when a pass came out too large and there is no time for another.
    private static let prefixShare = 0.98

    let source: SoundSource
    let ladder: SoundLadder
    let file: SoundFile
    let clock: WorkClock

    /// Writes the best sound that fits.
    ///
    /// - Throws: `limit.exceeded` when not even a second fits, `deadline.exceeded`.
    func run() throws -> Fitted {
        let encoding = SoundEncoding(source: source, bytesMax: file.bytesMax, clock: clock)
        var rung = ladder.best
        var best: SoundEncoding.Outcome?
        var bracket = SoundBracket()
        for _ in 1...Limits.soundTriesMax {
            try checkWorth(rung)
            let start = ContinuousClock.now
            let outcome = try encoding.run(rung, mayBeQuick: best?.isQuick ?? false)
            let isVain = best.map { gainsNothing(outcome, over: $0) } ?? false
            if best.map({ isBetter(outcome, than: $0) }) ?? true { best = outcome }
            let cost = start.duration(to: .now) / .seconds(1)
            bracket.take(outcome.rung, measured: measured(outcome), fits: fits(outcome))
            guard !isVain, cost < clock.secondsLeft * Self.passShare, let next = next(after: outcome) else { break }
            rung = bracket.bounding(next)
        }
        guard let best else { throw SoundSource.empty }
        return try write(best)
    }

    private func checkWorth(_ rung: SoundLadder.Rung) throws {
        guard let kept = rung.keptSeconds, kept < min(Limits.soundCutSecondsMin, source.duration) else { return }
        throw AttachPrepError(
            .limitExceeded,
            "Not even a second of the sound fits into \(file.bytesMax.grouped) bytes; allow more.")
    }

    private func predictedBytes(_ outcome: SoundEncoding.Outcome) -> Double {
        Double(outcome.bytes)
            + SoundLadder.overheadBytes(seconds: outcome.seconds, sampleRate: outcome.rung.sampleRate)
    }

    private func fits(_ outcome: SoundEncoding.Outcome) -> Bool { predictedBytes(outcome) <= Double(file.bytesMax) }

    private func isBetter(_ outcome: SoundEncoding.Outcome, than other: SoundEncoding.Outcome) -> Bool {
        if fits(outcome) != fits(other) { return fits(outcome) }
        if fits(outcome), outcome.rung.isFull { return true }
        return fits(outcome) ? outcome.bytes > other.bytes : outcome.bytes < other.bytes
    }

    private func gainsNothing(_ outcome: SoundEncoding.Outcome, over other: SoundEncoding.Outcome) -> Bool {
        fits(outcome) && fits(other) && predictedBytes(outcome) < predictedBytes(other) * Self.gainMin
    }

    /// The rung that the measured bytes speak for; nil when nothing better is to be had.
    private func next(after outcome: SoundEncoding.Outcome) -> SoundLadder.Rung? {
        let rung = outcome.rung
        if fits(outcome) {
            let isClose = predictedBytes(outcome) >= Double(file.bytesMax) * Limits.soundFillShareMin
            if isClose || rung.isFull || outcome.isCutByTime { return nil }
        }
        return ladder.rung(
            budget: Double(file.bytesMax) * Limits.soundFillShare, after: outcome.rung, measured: measured(outcome))
    }

    /// Bits a second. A pass that grew too large was broken off, so rates are compared, not sums.
    private func measured(_ outcome: SoundEncoding.Outcome) -> Double {
        Double(outcome.bytes) * 8 / max(outcome.seconds, 0.1)
    }

    /// What a pass made; when it does not fit and there is no time for another, as much of it as fits.
    private func write(_ outcome: SoundEncoding.Outcome) throws -> Fitted {
        var count = outcome.packets.count
        while count > 0 {
            if let bytes = try file.write(outcome.packets.prefix(count), of: outcome.encoder) {
                let seconds = outcome.seconds * Double(count) / Double(outcome.packets.count)
                return Fitted(
                    outcome: outcome, seconds: seconds, bytes: bytes, isPrefix: count < outcome.packets.count)
            }
            count = Int(clamping: Double(count) * Self.prefixShare)
        }
        throw AttachPrepError(
            .limitExceeded, "An M4A does not fit into \(file.bytesMax.grouped) bytes; allow more.")
    }
}
