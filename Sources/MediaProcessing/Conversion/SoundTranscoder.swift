import LibAV
import RichPush
import SafeArithmetic

/// Decodes one sound stream and encodes it as AAC: packets in, packets out, in order.
///
/// Times of what comes out are samples of the movie's own timeline: it begins where the movie begins, with silence if
/// the stream begins later.
final class SoundTranscoder {
    /// Errors of a decoder in a row before its packet is given up.
    private static let failuresMax = 16
    /// Silence is made in pieces of so many samples.
    private static let silencePiece = 32_768
    /// Louder than any sound is, and softer than what the encoder refuses as infinite.
    private static let peak: Float = 8

    /// Containers of nothing but frames: libav counts their times by the first frame, which a later one may belie.
    private static let untimed: Set<String> = ["aac", "ac3", "eac3", "mp3"]

    /// For `Muxer.addStream(of:)`.
    let encoder: Encoder
    /// Samples that went into the encoder.
    private(set) var samplesEncoded = 0

    private let stream: StreamDescription
    private let origin: Double
    private let isTimed: Bool
    private let settings: AudioEncoderSettings
    private let decoder: Decoder
    private let frame: Frame
    private let queue: SampleQueue
    private var timeline: SoundTimeline
    private var resampler: Resampler?
    private var cut: SoundCut?

    /// - Parameters:
    ///   - origin: The container's time, in seconds, that is 0 of the movie's own timeline (`OpenMovie.origin`).
    ///   - jumpMin: Seconds above which a jump in time is closed instead of filled with silence or cut.
    init(
        _ stream: StreamDescription, of demuxer: Demuxer, origin: Double, settings: AudioEncoderSettings,
        jumpMin: Double = Limits.soundJumpSeconds
    ) throws {
        self.stream = stream
        self.origin = origin
        isTimed = !Self.untimed.contains(demuxer.name)
        self.settings = settings
        decoder = try Decoder.open(stream: stream.index, of: demuxer, pixelsMax: 1)
        frame = try Frame()
        queue = try SampleQueue(channels: settings.channels, sampleRate: settings.sampleRate)
        encoder = try Encoder.audio(settings)
        timeline = SoundTimeline(jumpMin: jumpMin)
    }

    /// Seconds that went into the encoder.
    var secondsEncoded: Double { Double(samplesEncoded) / Double(settings.sampleRate) }

    /// Whether it was cut and nothing more will be taken.
    var isFull: Bool { cut.map { samplesEncoded >= $0.end } ?? false }

    /// Ends the sound at a time, fading out before; never earlier than what was encoded already.
    func stop(at seconds: Double, fading fade: Double = Limits.soundFadeSeconds) {
        let end = max(samplesEncoded, Int(clamping: seconds * Double(settings.sampleRate)))
        let room = min(end.subtracting(clamping: samplesEncoded), Int(clamping: fade * Double(settings.sampleRate)))
        cut = SoundCut(end: end, fade: room)
    }

    /// Takes the stream's next packet; what does not decode becomes silence.
    func take(_ packet: Packet) throws -> [Packet] {
        if packet.byteCount == 0 || isFull { return [] }
        var packets: [Packet] = []
        do {
            _ = try decoder.send(packet)
        } catch {
            packets.append(contentsOf: try takeSilence(lose: stream.timeBase.seconds(packet.duration)))
        }
        packets.append(contentsOf: try receiveAll())
        return packets
    }

    /// Encodes what is left; to be called after the last packet.
    func finish() throws -> [Packet] {
        var packets: [Packet] = []
        if !isFull {
            _ = try? decoder.send(nil)
            packets.append(contentsOf: try receiveAll())
            try drainResampler()
            packets.append(contentsOf: try encodeWaiting(atLeast: 1))
        }
        packets.append(contentsOf: try encoder.encode(nil))
        return packets
    }

    private func receiveAll() throws -> [Packet] {
        var packets: [Packet] = []
        var failures = 0
        while failures < Self.failuresMax, !isFull {
            do {
                if try decoder.receive(into: frame) != .frame { break }
            } catch {
                failures += 1
                continue
            }
            packets.append(contentsOf: try takeFrame())
        }
        return packets
    }

    private func takeFrame() throws -> [Packet] {
        if frame.sampleCount <= 0 || frame.sampleRate <= 0 || frame.channels <= 0 { return [] }
        let rate = Double(frame.sampleRate)
        let seconds = Double(frame.sampleCount) / rate
        var packets: [Packet] = []
        switch timeline.place(at: time, lasting: seconds) {
        case .follows: break
        case .silence(let gap): packets.append(contentsOf: try takeSilence(gap))
        case .overlap(let part):
            let count = Int(clamping: (part * rate).rounded())
            if count >= frame.sampleCount { return [] }
            if count > 0 { try frame.dropFirst(count) }
        }
        do { try resample() } catch { packets.append(contentsOf: try takeSilence(seconds)) }
        packets.append(contentsOf: try encodeWaiting(atLeast: encoder.frameSize))
        return packets
    }

    /// When the decoded samples are heard, in seconds of the movie's own timeline.
    private var time: Double? {
        guard isTimed, let tick = frame.presentationTimestamp ?? frame.bestEffortTimestamp else { return nil }
        // Bounded: floating point.
        return stream.timeBase.seconds(tick) - origin
    }

    private func resample() throws {
        if resampler?.takes(frame) == false { try drainResampler() }
        let open =
            try resampler
            ?? Resampler.open(like: frame, channels: settings.channels, sampleRate: settings.sampleRate)
        resampler = open
        if let converted = try open.convert(frame) { try queue.append(converted) }
    }

    private func drainResampler() throws {
        while let rest = try resampler?.convert(nil) { try queue.append(rest) }
        resampler = nil
    }

    private func takeSilence(lose seconds: Double) throws -> [Packet] {
        // Before the first sample nothing was heard that could be missed.
        guard samplesEncoded > 0 || queue.count > 0, seconds < timeline.jumpMin else { return [] }
        timeline.skip(seconds)
        return try takeSilence(seconds)
    }

    private func takeSilence(_ seconds: Double) throws -> [Packet] {
        try drainResampler()
        var packets: [Packet] = []
        // No sound lasts longer; a hostile time may.
        let most = min(seconds, Limits.durationSecondsMax)
        var left = Int(clamping: (most * Double(settings.sampleRate)).rounded())
        while left > 0, !isFull {
            let piece = min(left, Self.silencePiece)
            try queue.appendSilence(piece)
            packets.append(contentsOf: try encodeWaiting(atLeast: encoder.frameSize))
            left = left.subtracting(clamping: piece)
        }
        return packets
    }

    private func encodeWaiting(atLeast count: Int) throws -> [Packet] {
        var packets: [Packet] = []
        while queue.count >= max(1, count), !isFull {
            let room = cut.map { $0.end.subtracting(clamping: samplesEncoded) } ?? .max
            let samples = try queue.take(min(queue.count, encoder.frameSize, room))
            try samples.limitFloats(to: Self.peak)
            try fade(samples)
            packets.append(contentsOf: try encoder.encode(samples, at: samplesEncoded))
            samplesEncoded = samplesEncoded.adding(clamping: samples.sampleCount)
        }
        return packets
    }

    private func fade(_ samples: Frame) throws {
        let end = samplesEncoded.adding(clamping: samples.sampleCount)
        guard let cut, end > cut.end.subtracting(clamping: cut.fade) else { return }
        let start = samplesEncoded
        // Bounded: samples before `end`.
        try samples.scaleFloats { cut.gain(at: start &+ $0) }
    }
}
