import LibAV
import SafeArithmetic

/// A movie's sound, encoded as AAC.
final class EncodedSoundTrack: MovieTrack {
    let source: Int
    private let target: Int
    private let muxer: Muxer
    private let stream: StreamDescription
    private let clock: FrameClock
    private let timeline: MovieTimeline
    private let transcoder: SoundTranscoder
    private let ledger: SoundLedger

    init(
        _ movie: OpenMovie, _ stream: StreamDescription, timeline: MovieTimeline, settings: AudioEncoderSettings,
        cut: Double?, ledger: SoundLedger, muxer: Muxer
    ) throws {
        self.stream = stream
        self.timeline = timeline
        self.muxer = muxer
        self.ledger = ledger
        source = stream.index
        clock = FrameClock(movie, stream)
        // Pictures go on while the sound is silent; what pauses both is closed by the timeline.
        transcoder = try readingMedia {
            try SoundTranscoder(
                stream, of: movie.demuxer, origin: movie.origin, settings: settings, jumpMin: .infinity)
        }
        if let cut { transcoder.stop(at: cut) }
        target = try muxer.addStream(of: transcoder.encoder)
    }

    var isOver: Bool { transcoder.isFull }

    /// Seconds written.
    var end: Double { transcoder.secondsEncoded }

    /// Ends the sound where the pictures ended.
    func stop(at seconds: Double) { transcoder.stop(at: seconds, fading: 0) }

    func take(_ packet: Packet) throws {
        let copy = try packet.reference()
        if let tick = packet.presentationTimestamp ?? packet.decodingTimestamp, !timeline.holes.isEmpty {
            let shift = stream.timeBase.nearestTick(timeline.shift(at: clock.movieTime(ofTick: tick)))
            copy.presentationTimestamp = packet.presentationTimestamp.map { $0.subtracting(clamping: shift) }
            copy.decodingTimestamp = packet.decodingTimestamp.map { $0.subtracting(clamping: shift) }
        }
        try write(transcoder.take(copy))
    }

    func finish() throws { try write(transcoder.finish()) }

    private func write(_ packets: [Packet]) throws {
        ledger.bytes = packets.reduce(ledger.bytes) { $0.adding(clamping: $1.byteCount) }
        ledger.seconds = transcoder.secondsEncoded
        for packet in packets {
            try muxer.write(packet, stream: target, timeBase: transcoder.encoder.timeBase)
        }
    }
}
