import AttachPrepModel
import Foundation
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Decodes one audio stream and encodes it as AAC or MP3: takes packets and returns packets, in order.
///
/// Output times are in samples on the movie's timeline: the output starts where the movie starts, with silence if the
/// stream starts later.
final class AudioTranscoder {
    /// Consecutive decoder errors after which a packet is abandoned.
    private static let failuresMax = 16
    /// Samples of silence appended at once.
    private static let silencePiece = 32_768
    /// Limit of sample values: above any real audio, below values that the encoder rejects as infinite.
    private static let peak: Float = 8

    /// Containers without timestamps: libav derives them from the first frame's rate, which later frames may
    /// contradict.
    private static let untimed: Set<String> = ["aac", "ac3", "eac3", "mp3"]

    /// For `Muxer.addStream(of:)`.
    let encoder: Encoder
    /// Samples sent to the encoder.
    private(set) var samplesEncoded = 0
    /// Seconds of audio that did not decode, and were replaced by silence.
    private(set) var undecodableSeconds = 0.0

    private let stream: StreamDescription
    private let origin: Double
    private let isTimed: Bool
    private let settings: AudioEncoderSettings
    private let decoder: Decoder
    private let frame: Frame
    private let queue: SampleQueue
    private var timeline: AudioTimeline
    private var resampler: Resampler?
    private var cut: AudioCut?

    /// - Parameters:
    ///   - origin: Container time in seconds that corresponds to 0 on the movie's timeline (`OpenMovie.origin`).
    ///   - jumpMin: Seconds above which a jump in time is closed instead of being filled with silence or cut.
    init(
        _ stream: StreamDescription, of demuxer: Demuxer, origin: Double, settings: AudioEncoderSettings,
        jumpMin: Double = Limits.audioJumpSeconds
    ) throws {
        self.stream = stream
        self.origin = origin
        // The decoder of Windows Media Audio Lossless gives a packet's samples the time of the next one.
        isTimed = !Self.untimed.contains(demuxer.name) && stream.codec != "wmalossless"
        self.settings = settings
        decoder = try Decoder.open(stream: stream.index, of: demuxer, pixelsMax: 1)
        frame = try Frame()
        queue = try SampleQueue(channels: settings.channels, sampleRate: settings.sampleRate)
        encoder = try Encoder.audio(settings)
        timeline = AudioTimeline(jumpMin: jumpMin)
    }

    /// Seconds of audio sent to the encoder.
    var secondsEncoded: Double { Double(samplesEncoded) / Double(settings.sampleRate) }

    /// Whether the output has reached its cut and takes no more packets.
    var isFull: Bool { cut.map { samplesEncoded >= $0.end } ?? false }

    /// Takes back an end that was set by `stop`.
    func resume() { cut = nil }

    /// Ends the audio at a time, with a fade-out before it; never earlier than what is already encoded.
    func stop(at seconds: Double, fading fade: Double = Limits.audioFadeSeconds) {
        let end = max(samplesEncoded, Int(clamping: seconds * Double(settings.sampleRate)))
        let capacity = min(end.subtracting(clamping: samplesEncoded), Int(clamping: fade * Double(settings.sampleRate)))
        cut = AudioCut(end: end, fade: capacity)
    }

    /// Transcodes the stream's next packet; undecodable audio is replaced by silence.
    func transcode(_ packet: Packet) throws -> [Packet] {
        if packet.byteCount == 0 || isFull { return [] }
        var packets: [Packet] = []
        do {
            _ = try decoder.send(packet)
        } catch {
            let seconds = stream.timeBase.seconds(packet.duration)
            // A stream that was cut out of another can begin inside a frame.
            if samplesEncoded > 0 || queue.count > 0 { undecodableSeconds += seconds }
            packets.append(contentsOf: try takeSilence(lose: seconds))
        }
        packets.append(contentsOf: try receiveAll())
        return packets
    }

    /// Encodes what is left; call it after the last packet.
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

    /// Presentation time of the decoded samples, in seconds on the movie's timeline.
    private var time: Double? {
        guard isTimed, let tick = frame.presentationTimestamp ?? frame.bestEffortTimestamp else { return nil }
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
        // Before the first sample there is no audio to replace.
        guard samplesEncoded > 0 || queue.count > 0, seconds < timeline.jumpMin else { return [] }
        timeline.skip(seconds)
        return try takeSilence(seconds)
    }

    private func takeSilence(_ seconds: Double) throws -> [Packet] {
        try drainResampler()
        var packets: [Packet] = []
        // No audio is longer, but a hostile timestamp can be.
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
            let capacity = cut.map { $0.end.subtracting(clamping: samplesEncoded) } ?? .max
            let samples = try queue.dequeue(min(queue.count, encoder.frameSize, capacity))
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
        try samples.scaleFloats { cut.gain(at: start &+ $0) }
    }
}

/// Places decoded samples on the timeline by the container's timestamps.
///
/// Containers round timestamps, recorders lose packets, and broadcasts jump. Small deviations are ignored, lasting ones
/// are filled with silence or cut, and jumps are closed.
struct AudioTimeline: Sendable, Hashable {
    /// What has to be done before a block of samples is appended, in seconds.
    enum Placement: Sendable, Hashable {
        case follows
        case silence(Double)
        /// This part of the block, possibly all of it, has already been output.
        case overlap(Double)
    }

    /// Deviation in seconds that is always ignored: containers that count milliseconds or packets stay below it. Half
    /// of what is perceived as out of sync.
    private static let tolerance = 0.02
    /// Deviation in seconds that is corrected at once.
    private static let toleranceOnce = 0.1
    /// Consecutive deviating blocks after which a smaller deviation is corrected.
    private static let straysMax = 8
    /// Tolerance in seconds at the beginning, where there is no jitter yet.
    private static let toleranceAtStart = 0.001

    /// Jumps of more seconds are closed.
    let jumpMin: Double
    /// End of the samples placed so far, in seconds of the output.
    private(set) var end = 0.0
    private var shift = 0.0
    private var strays = 0
    private var hasBegun = false

    init(jumpMin: Double) { self.jumpMin = jumpMin }

    /// Places a block of samples; without a time it follows the previous block.
    mutating func place(at time: Double?, lasting seconds: Double) -> Placement {
        defer { hasBegun = true }
        let placement = time.map { place($0 + shift - end, seconds: seconds) } ?? .follows
        switch placement {
        case .follows: end += seconds
        case .silence(let gap): end += gap + seconds
        case .overlap(let part): end += max(0, seconds - part)
        }
        return placement
    }

    /// Advances the timeline over audio that could not be decoded.
    mutating func skip(_ seconds: Double) { end += seconds }

    private mutating func place(_ deviation: Double, seconds: Double) -> Placement {
        if abs(deviation) > jumpMin {
            shift -= deviation
            strays = 0
            return .follows
        }
        if !isBelieved(deviation) { return .follows }
        if deviation > 0 {
            strays = 0
            return .silence(deviation)
        }
        // The rest of the overlap is corrected at once, without waiting for more deviating blocks.
        strays = Self.straysMax
        return .overlap(min(seconds, -deviation))
    }

    private mutating func isBelieved(_ deviation: Double) -> Bool {
        if !hasBegun { return abs(deviation) > Self.toleranceAtStart }
        if abs(deviation) <= Self.tolerance {
            strays = 0
            return false
        }
        strays += 1
        return abs(deviation) > Self.toleranceOnce || strays >= Self.straysMax
    }
}

/// End of audio that is cut before its source ends, with its fade-out.
struct AudioCut: Sendable, Hashable {
    /// Number of samples kept.
    let end: Int
    /// Number of samples over which the audio fades out.
    let fade: Int

    /// Gain of a sample, from 0 to 1.
    func gain(at sample: Int) -> Float {
        if sample >= end { return 0 }
        if fade <= 0 || sample < end.subtracting(clamping: fade) { return 1 }
        return Float(0.5 - 0.5 * cos(.pi * Double(end.subtracting(clamping: sample)) / Double(fade)))
    }
}

extension Limits {
    /// Seconds of fade-out where audio is cut.
    static let audioFadeSeconds = 2.0
    /// Longer jumps in audio timestamps are closed instead of filled with silence, in seconds.
    static let audioJumpSeconds = 5.0
}
