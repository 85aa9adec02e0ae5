import LibAV
import RichPush

/// One pass over a sound: all its packets as AAC, held in memory.
///
/// An attachment's sound is a few megabytes, so it can be encoded again before a byte of it is written.
struct SoundEncoding {
    /// What came of a pass.
    struct Outcome {
        let encoder: Encoder
        let packets: [Packet]
        /// Seconds of the sound.
        let seconds: Double
        /// Whether time ran short and the rest was left out.
        let isCutByTime: Bool

        /// Bytes of the packets.
        var bytes: Int { packets.reduce(0) { $0 + $1.byteCount } }
    }

    let source: CInt
    let format: MediaFormat
    /// Index of the stream in its container.
    let streamIndex: Int
    /// Seconds of the source.
    let duration: Double
    /// Bytes of packets at which a pass is over: it would not fit in any case.
    let bytesMax: Int
    let clock: WorkClock

    /// Encodes the sound as a rung says.
    ///
    /// - Returns: Nil when the pace is too slow and a quicker coder may help.
    func run(_ rung: SoundLadder.Rung, isQuick: Bool) throws -> Outcome? {
        let movie = try OpenMovie.open(source, format: format, isRecognized: true, deadline: clock.deadline)
        guard let stream = movie.streams.first(where: { $0.index == streamIndex }) else {
            throw AttachPrepError(.mediaCorrupt, "The sound has no samples; send an intact file.")
        }
        movie.demuxer.discardStreams(except: [streamIndex])
        var settings = rung.settings
        settings.isQuick = isQuick
        let transcoder = try SoundTranscoder(
            stream, of: movie.demuxer, origin: movie.origin, settings: settings)
        if let kept = rung.keptSeconds { transcoder.stop(at: kept) }
        var pace = SoundPace(clock: clock, seconds: rung.keptSeconds ?? duration)
        var packets: [Packet] = []
        var bytes = 0
        let packet = try Packet()
        while !transcoder.isFull, try read(movie.demuxer, into: packet) {
            let made = packet.streamIndex == streamIndex ? try transcoder.take(packet) : []
            packets += made
            bytes += made.reduce(0) { $0 + $1.byteCount }
            if bytes > bytesMax { break }
            guard let end = try pace.end(after: transcoder.secondsEncoded) else { continue }
            if !isQuick { return nil }
            transcoder.stop(at: end)
        }
        packets += try transcoder.finish()
        return Outcome(
            encoder: transcoder.encoder, packets: packets, seconds: transcoder.secondsEncoded,
            isCutByTime: pace.isCut)
    }

    /// What cannot be read is the end: inspection has judged the file.
    private func read(_ demuxer: Demuxer, into packet: Packet) throws -> Bool {
        do {
            return try demuxer.read(into: packet)
        } catch {
            if error.isDeadline { throw error.corrupt }
            return false
        }
    }
}
