import LibAV
import RichPush
import SafeArithmetic

/// One pass over a sound: all its packets as AAC, held in memory.
///
/// An attachment's sound is a few megabytes, so it can be encoded again before a byte of it is written.
struct SoundEncoding {
    /// What came of a pass.
    struct Outcome {
        let rung: SoundLadder.Rung
        let encoder: Encoder
        let packets: [Packet]
        /// Seconds of the sound.
        let seconds: Double
        /// Whether time forced a coder that searches less.
        let isQuick: Bool
        /// Whether time ran short and the rest was left out.
        let isCutByTime: Bool

        /// Bytes of the packets.
        let bytes: Int
    }

    let source: SoundSource
    /// Bytes of packets at which a pass is over: it would not fit in any case.
    let bytesMax: Int
    let clock: WorkClock

    /// Encodes the sound as a rung says; quicker if time is short, and shorter if it is shorter still.
    ///
    /// - Parameter mayBeQuick: Whether it is known that the better coder is too slow.
    func run(_ rung: SoundLadder.Rung, mayBeQuick isQuick: Bool) throws -> Outcome {
        if !isQuick, let outcome = try pass(rung, isQuick: false) { return outcome }
        guard let outcome = try pass(rung, isQuick: true) else { preconditionFailure("a quick pass ends by itself") }
        return outcome
    }

    /// Nil when the pace is too slow and a quicker coder may help.
    private func pass(_ rung: SoundLadder.Rung, isQuick: Bool) throws -> Outcome? {
        let movie = try source.open(deadline: clock.deadline)
        var settings = rung.settings
        settings.isQuick = isQuick
        let transcoder = try SoundTranscoder(source.stream, of: movie.demuxer, origin: movie.origin, settings: settings)
        if let kept = rung.keptSeconds { transcoder.stop(at: kept) }
        var pace = SoundPace(clock: clock, seconds: rung.keptSeconds ?? source.duration)
        var packets: [Packet] = []
        var bytes = 0
        let packet = try Packet()
        while !transcoder.isFull, bytes <= bytesMax, try movie.readOn(into: packet) {
            let made = packet.streamIndex == source.stream.index ? try transcoder.take(packet) : []
            packets.append(contentsOf: made)
            bytes = made.reduce(bytes) { $0.adding(clamping: $1.byteCount) }
            guard let end = try pace.end(after: transcoder.secondsEncoded) else { continue }
            if !isQuick { return nil }
            transcoder.stop(at: end)
        }
        let rest = try transcoder.finish()
        if transcoder.samplesEncoded == 0 { throw SoundSource.empty }
        packets.append(contentsOf: rest)
        return Outcome(
            rung: rung, encoder: transcoder.encoder, packets: packets, seconds: transcoder.secondsEncoded,
            isQuick: isQuick, isCutByTime: pace.isCut, bytes: rest.reduce(bytes) { $0.adding(clamping: $1.byteCount) })
    }
}
