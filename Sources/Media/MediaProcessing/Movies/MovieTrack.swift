import MediaLibraries
import SafeArithmetic

/// Writes one stream of a movie into the new file.
protocol MovieTrack: AnyObject {
    /// Index of the stream in the source.
    var source: Int { get }
    /// Processes the stream's next packet.
    func write(_ packet: Packet) throws
    /// Writes what is still buffered.
    func finish() throws
    /// Whether no more packets are needed.
    var isOver: Bool { get }
}

/// Copies a stream's packets bit by bit.
final class CopiedTrack: MovieTrack {
    let source: Int
    private let target: Int
    private let muxer: Muxer
    private let stream: StreamDescription
    private let scan: StreamScan
    private let timeline: MovieTimeline
    private let origin: Int64
    private let clock: FrameClock
    private let decodingTimes: [Int64]?
    private let lastShown: Int?
    private let isTransportStream: Bool
    private var position = 0
    private var end: Int64 = 0
    /// Time of the last audio packet written.
    private var latest: Int64?

    /// - Parameter configuration: Replaces an incomplete decoder configuration; nil keeps the source's.
    init(
        _ stream: StreamDescription, of movie: OpenMovie, scan: StreamScan, timeline: MovieTimeline,
        configuration: [UInt8]? = nil, muxer: Muxer
    ) throws {
        self.stream = stream
        self.scan = scan
        self.timeline = timeline
        self.muxer = muxer
        source = stream.index
        target = try muxer.addStream(copyingFrom: movie.demuxer, stream.index, configuration: configuration)
        isTransportStream = movie.demuxer.name == "mpegts"
        clock = FrameClock(movie, stream)
        origin = stream.timeBase.nearestTick(movie.origin)
        decodingTimes = stream.kind == .video ? scan.validDecodingTimes : nil
        lastShown = scan.presentations.indices.max { scan.presentations[$0] < scan.presentations[$1] }
    }

    let isOver = false
    /// Seconds on the output timeline from which nothing is written.
    var cut = Double.infinity

    func write(_ packet: Packet) throws {
        if packet.byteCount == 0 { return }
        defer { position += 1 }
        if case .tail(let first) = scan.hiding, position >= first { return }
        let copy = try packet.reference()
        // A transport stream marks a frame beside a jump of a counter, even if no packet is missing: without the frame
        // the following ones would not decode either.
        if packet.isCorrupt && !isTransportStream || isCut(packet) { return }
        if stream.kind == .video { timeVideo(copy) } else { timeAudio(copy) }
        try muxer.write(copy, stream: target, timeBase: stream.timeBase)
    }

    func finish() throws {}

    private func timeVideo(_ packet: Packet) {
        guard let times = decodingTimes, position < times.count else { return }
        let presentation = scan.presentations[position]
        let shift = shift(at: presentation)
        packet.presentationTimestamp = presentation.subtracting(clamping: shift)
        packet.decodingTimestamp = times[position].subtracting(clamping: shift)
        if position == lastShown || packet.duration > stream.timeBase.ticks(30) {
            packet.duration = stream.timeBase.nearestTick(scan.lastDuration(otherwise: 0.04))
        }
    }

    private func timeAudio(_ packet: Packet) {
        let presentation = packet.presentationTimestamp ?? packet.decodingTimestamp ?? end
        // Muxers require strictly increasing times.
        let next = latest.map { $0.adding(clamping: 1) } ?? .min
        let time = max(presentation.subtracting(clamping: shift(at: presentation)), next)
        packet.presentationTimestamp = time
        packet.decodingTimestamp = time
        // libav gives the packets of some fragments no duration: the last one would be behind the end of the edit.
        if packet.duration == 0, let latest { packet.duration = time.subtracting(clamping: latest) }
        latest = time
        end = presentation.adding(clamping: packet.duration)
    }

    private func isCut(_ packet: Packet) -> Bool {
        guard cut < .infinity, let tick = packet.presentationTimestamp ?? packet.decodingTimestamp else { return false }
        return timeline.output(clock.movieTime(ofTick: tick)) >= cut
    }

    /// Ticks by which a packet is moved forward in the output.
    private func shift(at tick: Int64) -> Int64 {
        origin.adding(clamping: stream.timeBase.nearestTick(timeline.shift(at: clock.movieTime(ofTick: tick))))
    }
}

extension TimeBase {
    /// The tick nearest to a time.
    func nearestTick(_ seconds: Double) -> Int64 { ticks(seconds + tick / 2) }
}

/// Decodes, scales and encodes a movie's video.
final class EncodedVideoTrack: MovieTrack {
    let source: Int
    let writer: VideoWriter
    private let scan: MovieScan
    private let frames: TimedFrameDecoder
    private let normalizer: FrameNormalizer
    private var watch: PassMonitor
    private let cut: Double
    private var rateLimiter: FrameRateLimiter
    private var lastTime = 0.0

    private(set) var isOver = false
    /// Packets that did not decode.
    var undecodablePackets: Int { frames.undecodablePackets }
    /// Whether encoding was stopped before the movie's end for lack of time.
    private(set) var isStopped = false

    init(
        _ movie: OpenMovie, _ source: MovieSource, _ choice: MovieChoice, firstFrame: Frame,
        rateController: RateController, watch: PassMonitor, audioUsage: AudioByteUsage, muxer: Muxer
    ) throws {
        scan = source.scan
        self.source = scan.video.index
        self.watch = watch
        cut = choice.cut ?? .infinity
        frames = try TimedFrameDecoder(movie, scan)
        frames.skipping = choice.skipping
        normalizer = try source.normalizer(like: firstFrame, shape: choice.shape)
        rateLimiter = FrameRateLimiter(frameRateMax: choice.frameRateMax)
        let settings = VideoEncoderSettings(
            width: choice.shape.width, height: choice.shape.height,
            frameRate: min(choice.frameRateMax ?? scan.frameRate, 240), preset: choice.preset,
            quality: rateController.quality, colors: normalizer.colors)
        writer = try VideoWriter(
            settings, rateController: rateController, weights: CumulativeWeights(scan.weights(), end: cut),
            audioUsage: audioUsage,
            muxer: muxer)
    }

    func write(_ packet: Packet) throws {
        try frames.feed(packet) { frame, time in try self.consider(frame, time: time) }
    }

    func finish() throws {
        if !isOver { try frames.feed(nil) { frame, time in try self.consider(frame, time: time) } }
        let usual = lastTime + scan.interval
        let end = isStopped ? usual : max(usual, min(scan.end, cut))
        try writer.finish(at: min(end, max(cut, lastTime + 0.001)))
    }

    private func consider(_ frame: Frame, time: Double) throws {
        if isOver || time < -scan.interval / 2 { return }
        if time >= cut {
            isOver = true
            return
        }
        guard rateLimiter.keeps(time) else { return }
        try writer.write(normalizer.apply(frame), at: max(0, time))
        lastTime = max(0, time)
        switch watch.check(at: writer, time: time) {
        case .fine: break
        case .behind(let slowness): throw MovieEncodeError.behind(slowness)
        case .late:
            isOver = true
            isStopped = true
        }
    }
}

/// Encodes a movie's audio as AAC.
final class EncodedAudioTrack: MovieTrack {
    let source: Int
    private let target: Int
    private let muxer: Muxer
    private let stream: StreamDescription
    private let clock: FrameClock
    private let timeline: MovieTimeline
    private let transcoder: AudioTranscoder
    private let audioUsage: AudioByteUsage

    init(
        _ movie: OpenMovie, _ stream: StreamDescription, timeline: MovieTimeline, settings: AudioEncoderSettings,
        cut: Double?, audioUsage: AudioByteUsage, muxer: Muxer
    ) throws {
        self.stream = stream
        self.timeline = timeline
        self.muxer = muxer
        self.audioUsage = audioUsage
        source = stream.index
        clock = FrameClock(movie, stream)
        // Video continues while the audio is silent, so jumps are kept; the timeline closes gaps in both.
        transcoder = try readingMedia {
            try AudioTranscoder(
                stream, of: movie.demuxer, origin: movie.origin, settings: settings, jumpMin: .infinity)
        }
        if let cut { transcoder.stop(at: cut) }
        target = try muxer.addStream(of: transcoder.encoder)
    }

    var isOver: Bool { transcoder.isFull }

    /// Seconds written.
    var end: Double { transcoder.secondsEncoded }

    /// Seconds that did not decode, and are silent.
    var undecodableSeconds: Double { transcoder.undecodableSeconds }

    /// Ends the audio where the video ended.
    func stop(at seconds: Double) { transcoder.stop(at: seconds, fading: 0) }

    func write(_ packet: Packet) throws {
        let copy = try packet.reference()
        if let tick = packet.presentationTimestamp ?? packet.decodingTimestamp, !timeline.gaps.isEmpty {
            let shift = stream.timeBase.nearestTick(timeline.shift(at: clock.movieTime(ofTick: tick)))
            copy.presentationTimestamp = packet.presentationTimestamp.map { $0.subtracting(clamping: shift) }
            copy.decodingTimestamp = packet.decodingTimestamp.map { $0.subtracting(clamping: shift) }
        }
        try write(transcoder.transcode(copy))
    }

    func finish() throws { try write(transcoder.finish()) }

    private func write(_ packets: [Packet]) throws {
        audioUsage.bytes = packets.reduce(audioUsage.bytes) { $0.adding(clamping: $1.byteCount) }
        audioUsage.seconds = transcoder.secondsEncoded
        for packet in packets {
            try muxer.write(packet, stream: target, timeBase: transcoder.encoder.timeBase)
        }
    }
}

/// Compares the bytes that a movie's audio uses with its budget.
///
/// Silence uses few bytes; the video gets what is left over.
final class AudioByteUsage {
    /// Seconds of audio after which the forecast is considered reliable.
    private static let secondsMin = 0.5

    private let expected: Double
    private let duration: Double
    /// Bytes and seconds written so far.
    var bytes = 0
    var seconds = 0.0

    /// - Parameter seconds: Duration of the whole movie.
    init(_ plan: MoviePlan, seconds: Double) {
        duration = seconds
        if case .encoded(let settings) = plan.audio {
            expected = Double(settings.bitRate) / 8 * seconds
        } else {
            expected = 0
        }
    }

    /// For a movie without encoded audio.
    init() { (expected, duration) = (0, 0) }

    /// Bytes of the budget that will be left over; negative when it is exceeded.
    var spare: Double {
        guard expected > 0, seconds > Self.secondsMin else { return 0 }
        let rest = max(0, duration - seconds)
        return expected - Double(bytes) - Double(bytes) / seconds * rest
    }
}
