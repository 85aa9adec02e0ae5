import AttachPrepModel
import Foundation
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Encodes audio repeatedly until its size is just below the limit.
struct AudioFitting {
    /// The written file.
    struct Fitted {
        let encoded: AudioPass.Result
        /// Duration in seconds.
        let seconds: Double
        /// File size in bytes.
        let bytes: Int
        /// Whether the end was omitted to fit the limit.
        let isPrefix: Bool
    }

    /// Part of the remaining time that another pass may take, estimated from the previous pass.
    private static let passShare = 0.8
    /// Minimum growth in bytes for which a higher bit rate is worth keeping.
    private static let gainMin = 1.03
    /// Share of the packets kept per attempt when a pass is too large and there is no time for another.
    private static let prefixShare = 0.98

    let source: AudioSource
    let ladder: AudioLadder
    let file: AudioFile
    let clock: WorkClock

    /// Writes the best encoding that fits.
    ///
    /// - Throws: `limit.exceeded` when not even a second fits, `deadline.exceeded`.
    func run() throws -> Fitted {
        let encoding = AudioPass(source: source, format: file.format, bytesMax: file.bytesMax, clock: clock)
        var rung = ladder.best
        var best: AudioPass.Result?
        var bracket = BitRateBracket()
        for _ in 1...Limits.audioTriesMax {
            try checkWorth(rung)
            let start = clock.secondsSpent
            let encoded = try encoding.run(rung, mayBeQuick: best?.isQuick ?? false)
            let hasNoGain = best.map { isNegligibleGain(encoded, over: $0) } ?? false
            if best.map({ isBetter(encoded, than: $0) }) ?? true { best = encoded }
            let cost = clock.secondsSpent - start
            bracket.record(encoded.rung, measured: measured(encoded), fits: fits(encoded))
            guard !hasNoGain, cost < clock.secondsLeft * Self.passShare, let next = next(after: encoded) else { break }
            rung = bracket.bounding(next)
        }
        guard let best else { throw AudioSource.empty }
        return try write(best)
    }

    private func checkWorth(_ rung: AudioLadder.Rung) throws {
        guard let kept = rung.keptSeconds, kept < min(Limits.audioCutSecondsMin, source.duration) else { return }
        throw AttachPrepError(
            .limitExceeded,
            "Not even one second of the audio fits into \(file.bytesMax.grouped) bytes; raise the limit.")
    }

    private func predictedBytes(_ encoded: AudioPass.Result) -> Double {
        Double(encoded.bytes)
            + ladder.overheadBytes(seconds: encoded.seconds, sampleRate: encoded.rung.sampleRate)
    }

    private func fits(_ encoded: AudioPass.Result) -> Bool { predictedBytes(encoded) <= Double(file.bytesMax) }

    private func isBetter(_ encoded: AudioPass.Result, than other: AudioPass.Result) -> Bool {
        if fits(encoded) != fits(other) { return fits(encoded) }
        if fits(encoded), encoded.rung.isFull { return true }
        return fits(encoded) ? encoded.bytes > other.bytes : encoded.bytes < other.bytes
    }

    private func isNegligibleGain(_ encoded: AudioPass.Result, over other: AudioPass.Result) -> Bool {
        fits(encoded) && fits(other) && predictedBytes(encoded) < predictedBytes(other) * Self.gainMin
    }

    /// The next settings according to the measured size; nil when no better result is expected.
    private func next(after encoded: AudioPass.Result) -> AudioLadder.Rung? {
        let rung = encoded.rung
        if fits(encoded) {
            let isClose = predictedBytes(encoded) >= Double(file.bytesMax) * Limits.audioFillShareMin
            if isClose || rung.isFull || encoded.isCutByTime { return nil }
        }
        return ladder.rung(
            budget: Double(file.bytesMax) * Limits.audioFillShare, after: encoded.rung, measured: measured(encoded))
    }

    /// Resulting bits per second. A pass that grew too large was aborted, so rates are compared, not sizes.
    private func measured(_ encoded: AudioPass.Result) -> Double {
        Double(encoded.bytes) * 8 / max(encoded.seconds, 0.1)
    }

    /// Writes the result of a pass; if it is too large, writes as much of it as fits.
    private func write(_ encoded: AudioPass.Result) throws -> Fitted {
        var count = encoded.packets.count
        while count > 0 {
            if let bytes = try file.write(encoded.packets.prefix(count), of: encoded.encoder) {
                let seconds = encoded.seconds * Double(count) / Double(encoded.packets.count)
                return Fitted(
                    encoded: encoded, seconds: seconds, bytes: bytes, isPrefix: count < encoded.packets.count)
            }
            count = Int(clamping: Double(count) * Self.prefixShare)
        }
        throw AttachPrepError(
            .limitExceeded, "The audio does not fit into \(file.bytesMax.grouped) bytes; raise the limit.")
    }
}

/// One encoding pass over an audio stream: keeps all packets in memory.
///
/// Audio for an attachment has a few megabytes, so it can be encoded again before anything is written.
struct AudioPass {
    /// Result of a pass.
    struct Result {
        let rung: AudioLadder.Rung
        let encoder: Encoder
        let packets: [Packet]
        /// Duration in seconds.
        let seconds: Double
        /// Whether the encoder's fast algorithm was used because time ran short.
        let isQuick: Bool
        /// Whether time ran short and the rest was omitted.
        let isCutByTime: Bool

        /// Total size of the packets in bytes.
        let bytes: Int
        /// Seconds that did not decode, and are silent.
        var undecodableSeconds = 0.0
    }

    let source: AudioSource
    let format: AudioRendition.Format
    /// Packet bytes at which a pass stops, because it cannot fit.
    let bytesMax: Int
    let clock: WorkClock

    /// Encodes the audio with the rung's settings; uses the fast coder if time is short, and cuts the audio if that is
    /// not enough.
    ///
    /// - Parameter mayBeQuick: Whether the better coder is already known to be too slow.
    func run(_ rung: AudioLadder.Rung, mayBeQuick isQuick: Bool) throws -> Result {
        if !isQuick, let encoded = try pass(rung, isQuick: false) { return encoded }
        guard let encoded = try pass(rung, isQuick: true) else { preconditionFailure("a quick pass ends by itself") }
        return encoded
    }

    /// Runs a pass; nil when it is too slow and the fast coder may help.
    private func pass(_ rung: AudioLadder.Rung, isQuick: Bool) throws -> Result? {
        let movie = try source.open(deadline: clock.deadline)
        var settings = rung.settings(format)
        settings.isQuick = isQuick
        let transcoder = try AudioTranscoder(source.stream, of: movie.demuxer, origin: movie.origin, settings: settings)
        if let kept = rung.keptSeconds { transcoder.stop(at: kept) }
        var pace = AudioPaceMonitor(clock: clock, seconds: rung.keptSeconds ?? source.duration, isQuick: isQuick)
        var packets: [Packet] = []
        var bytes = 0
        let packet = try Packet()
        while !transcoder.isFull, bytes <= bytesMax, try movie.demuxer.readLeniently(into: packet) {
            let made = packet.streamIndex == source.stream.index ? try transcoder.transcode(packet) : []
            packets.append(contentsOf: made)
            bytes = made.reduce(bytes) { $0.adding(clamping: $1.byteCount) }
            switch try pace.decision(after: transcoder.secondsEncoded) {
            case .asBefore: break
            case .whole: if let kept = rung.keptSeconds { transcoder.stop(at: kept) } else { transcoder.resume() }
            case .end(let end): transcoder.stop(at: end)
            case .restart: return nil
            }
        }
        let rest = try transcoder.finish()
        if transcoder.samplesEncoded == 0 { throw AudioSource.empty }
        packets.append(contentsOf: rest)
        return Result(
            rung: rung, encoder: transcoder.encoder, packets: packets, seconds: transcoder.secondsEncoded,
            isQuick: isQuick, isCutByTime: pace.isCut, bytes: rest.reduce(bytes) { $0.adding(clamping: $1.byteCount) },
            undecodableSeconds: transcoder.undecodableSeconds)
    }
}

/// The bit rates tried so far and their results: the resulting rate is not proportional to the requested one.
struct BitRateBracket: Sendable, Hashable {
    private struct Point: Sendable, Hashable {
        let rung: AudioLadder.Rung
        let measured: Double
    }

    /// The next bit rate is at most this share of one that was too high.
    private static let step = 0.93
    /// Maximum factor by which a step is amplified when the previous one had little effect.
    private static let stretchMax = 3.0

    private var fits: Int?
    private var isTooMuch: Int?
    private var last: Point?
    private var stretch = 1.0

    /// Records a pass.
    ///
    /// - Parameter measured: Resulting bits per second.
    mutating func record(_ rung: AudioLadder.Rung, measured: Double, fits isFitting: Bool) {
        if isFitting {
            fits = max(fits ?? 0, rung.bitRate)
        } else {
            isTooMuch = min(isTooMuch ?? .max, rung.bitRate)
        }
        if let last, last.rung.bitRate != rung.bitRate, last.rung.channels == rung.channels {
            let requested = log(Double(rung.bitRate) / Double(last.rung.bitRate))
            let brought = log(max(measured, 1) / last.measured)
            stretch = min(Self.stretchMax, max(1, brought / requested > 0 ? requested / brought : Self.stretchMax))
        }
        last = Point(rung: rung, measured: max(measured, 1))
    }

    /// The next rung with its bit rate limited to the known bracket; unchanged when its duration is cut.
    func bounding(_ rung: AudioLadder.Rung) -> AudioLadder.Rung {
        guard let last, rung.keptSeconds == nil else { return rung }
        var bounded = rung
        let step = Double(rung.bitRate) / Double(last.rung.bitRate)
        if rung.channels == last.rung.channels, !rung.isFull {
            let least = Double(Limits.audioBitsPerSecondMin / 2)
            bounded.bitRate = Int(clamping: max(least, Double(last.rung.bitRate) * pow(step, stretch)))
        }
        if let isTooMuch, Double(bounded.bitRate) > Double(isTooMuch) * Self.step {
            bounded.bitRate = fits.map { ($0 + isTooMuch) / 2 } ?? Int(clamping: Double(isTooMuch) * Self.step)
            bounded.isFull = false
        }
        return bounded
    }
}

/// Predicts from the recent speed whether an encoding finishes in time, and decides what happens otherwise.
///
/// Every prediction replaces the one before: a machine that was slow for half a second need not stay slow. So the audio
/// is ended only when its fade-out has to begin, and the faster coder is used only when waiting would be too late for
/// it.
struct AudioPaceMonitor {
    enum Decision: Hashable {
        /// Nothing changes, or nothing was measured.
        case asBefore
        /// The audio is encoded to its end after all; an earlier end is taken back.
        case whole
        /// The audio ends at this time in seconds.
        case end(Double)
        /// The pass is repeated with the faster coder.
        case restart
    }

    /// Seconds of work over which the speed is measured.
    private static let windowSeconds = 0.1
    /// Seconds of audio between two checks of the clock.
    private static let stepSeconds = 0.5
    /// Part of the remaining time that is planned for when the audio is cut: the speed varies.
    private static let planShare = 0.85
    /// How much faster the faster coder is, at least.
    private static let quickFactor = 2.0
    /// Part of the time after which the faster coder is used, even if it will not encode all of the audio either.
    private static let patience = 0.3

    private let clock: WorkClock
    private let start: Double
    private let wanted: Double
    private let isQuick: Bool
    private var nextCheck = 0.0
    private var window: (done: Double, time: Double)
    /// Seconds of audio per second of work.
    private var pace: Double?
    private var end: Double?

    /// - Parameters:
    ///   - seconds: Requested seconds of audio.
    ///   - isQuick: Whether the faster coder is already used.
    init(clock: WorkClock, seconds: Double, isQuick: Bool) {
        self.clock = clock
        self.isQuick = isQuick
        start = clock.secondsSpent
        wanted = seconds
        window = (0, start)
    }

    /// Whether the audio is shorter than requested.
    var isCut: Bool { end != nil }

    /// - Parameter done: Seconds of audio encoded so far.
    /// - Throws: `deadline.exceeded` when the audio would be shorter than `Limits.audioCutSecondsMin`.
    mutating func decision(after done: Double) throws -> Decision {
        if done < nextCheck || done >= wanted { return .asBefore }
        nextCheck = done + Self.stepSeconds
        let left = clock.secondsLeft
        guard let pace = measured(done, left: left) else { return .asBefore }
        // A fade-out that can be heard is not taken back.
        if let end, done > end - Limits.audioFadeSeconds, left > 0 { return .asBefore }
        if wanted - done <= pace * left { return takeBackEnd() }
        if !isQuick { return mustRestart(pace, left: left) ? .restart : takeBackEnd() }
        let planned = done + max(0, left) * pace * Self.planShare
        // The next check has to be early enough for the fade-out.
        guard planned - done <= Limits.audioFadeSeconds + 2 * Self.stepSeconds else { return takeBackEnd() }
        if planned < min(wanted, Limits.audioCutSecondsMin) {
            throw AttachPrepError(.deadlineExceeded, "The time for the request ran out while the audio was encoded.")
        }
        end = planned
        return .end(planned)
    }

    /// Only an end that was set is taken back: setting the end of the pass again would restart its fade-out.
    private mutating func takeBackEnd() -> Decision {
        defer { end = nil }
        return end == nil ? .asBefore : .whole
    }

    private mutating func measured(_ done: Double, left: Double) -> Double? {
        let now = clock.secondsSpent
        let isDue = now - window.time >= Self.windowSeconds || pace == nil && left <= Self.windowSeconds
        if isDue, done > window.done {
            pace = (done - window.done) / max(now - window.time, 0.001)
            window = (done, now)
        }
        return pace
    }

    /// Whether the faster coder has to begin now.
    private func mustRestart(_ pace: Double, left: Double) -> Bool {
        let spent = clock.secondsSpent - start
        let needed = wanted / (pace * Self.quickFactor)
        if needed < left { return needed > (left - Self.windowSeconds) * 0.9 }
        return spent > (spent + left) * Self.patience
    }
}

extension Limits {
    /// Shrunk audio below this share of the limit is encoded again at a higher rate.
    static let audioFillShareMin = 0.88
    /// Encodings of one audio file.
    static let audioTriesMax = 4
    /// The shortest useful cut of audio, in seconds.
    static let audioCutSecondsMin = 1.0
}
