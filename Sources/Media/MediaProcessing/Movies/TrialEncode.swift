import AttachPrepModel
import Linux
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Decodes and encodes a few short excerpts of a movie to estimate the bytes and time of the whole.
struct TrialEncode {
    /// Maximum number of excerpts, and minimum seconds of the movie per excerpt.
    private static let excerptsMax = 5
    private static let secondsPerExcerpt = 2.5
    /// Maximum frames per excerpt, and maximum bytes of its frames.
    private static let framesMax = 24
    private static let frameBytesMax = 100_000_000
    /// Part of the remaining time that the trial may take.
    private static let timeShare = 0.1
    /// Seconds around an excerpt from which the source's bytes per frame are taken.
    private static let neighborhoodSeconds = 2.5
    /// Rate factor difference of a second encoding of the same frames, which measures the slope of the curve.
    static let qualityDistance = 6.0
    static let trialPreset = VideoEncoderSettings.Preset.veryfast

    /// The first decoded frame; the others have the same format.
    let firstFrame: Frame
    /// Expected bytes of the whole video.
    let curve: RateCurve
    let shape: MovieShape
    private(set) var secondsPerFrame: Double
    private(set) var secondsPerMegapixel: Double
    let preset = Self.trialPreset

    /// Bits per pixel below which a smaller size will be chosen anyway.
    private static let bitsPerPixelMin = 0.03

    /// The size to try: the largest one that the byte limit may allow.
    static func shape(_ largest: MovieShape, bytes: Double, scan: MovieScan) -> MovieShape {
        let frames = Double(max(1, scan.videoScan.shown))
        let shapes = largest.ladder
        return shapes.first { bytes * 8 / frames / Double($0.pixels) >= bitsPerPixelMin }
            ?? shapes.first { $0.shortSide <= 360 } ?? largest
    }

    /// The rate factor to try, close to the expected one: the slope of the curve depends on it.
    static func quality(_ shape: MovieShape, bytes: Double, scan: MovieScan) -> Double {
        switch bytes * 8 / Double(max(1, scan.videoScan.shown)) / Double(shape.pixels) {
        case ..<0.045: 31
        case ..<0.09: 27
        default: 23
        }
    }

    /// Measurements of one excerpt.
    private struct Excerpt {
        var firstFrame: Frame?
        var frames = 0
        var decodingSeconds = 0.0
        var encodingSeconds = 0.0
        /// Average bytes per frame, with keyframes at the final interval.
        var bytesPerFrame = 0.0
        var sourceBytesPerFrame = 0.0
        /// Average bytes per frame at a rate factor higher by `qualityDistance`; nil if not measured.
        var worseBytesPerFrame: Double?
    }

    /// - Parameters:
    ///   - shape: The size to try.
    ///   - quality: The rate factor to try.
    static func run(_ source: MovieSource, shape: MovieShape, quality: Double, clock: WorkClock) throws -> TrialEncode {
        let excerpts = try excerpts(source, shape: shape, quality: quality, keepsFrame: true, clock: clock)
        guard let firstFrame = excerpts.first?.firstFrame else {
            throw AttachPrepError(.mediaCorrupt, "No frame of the movie decodes; send an intact file.")
        }
        func mean(_ value: (Excerpt) -> Double) -> Double { excerpts.map(value).reduce(0, +) / Double(excerpts.count) }
        // Otherwise the pass allocates its frames beside the freed ones of the trial, and 4K in 10 bits exceeds the
        // limit of a media process.
        OwnProcess.trimMemory()
        let scan = source.scan
        let pace = pace(excerpts, shape: shape)
        let usual = Double(scan.videoScan.bytes) / Double(max(1, scan.videoScan.shown))
        let weight = max(0.3, min(3, usual / max(1, mean(\.sourceBytesPerFrame))))
        return TrialEncode(
            firstFrame: firstFrame,
            curve: RateCurve(
                bytes: mean(\.bytesPerFrame) * weight * Double(scan.videoScan.shown), at: quality,
                steps: steps(excerpts)), shape: shape, secondsPerFrame: pace.frame, secondsPerMegapixel: pace.megapixel)
    }

    /// Measures the time again: a machine that was slow at the first measurement need not stay slow.
    mutating func renewPace(_ source: MovieSource, quality: Double, clock: WorkClock) throws {
        let excerpts = try Self.excerpts(source, shape: shape, quality: quality, keepsFrame: false, clock: clock)
        guard !excerpts.isEmpty else { return }
        (secondsPerFrame, secondsPerMegapixel) = Self.pace(excerpts, shape: shape)
        OwnProcess.trimMemory()
    }

    private static func excerpts(
        _ source: MovieSource, shape: MovieShape, quality: Double, keepsFrame: Bool, clock: WorkClock
    ) throws -> [Excerpt] {
        let limit = clock.secondsLeft * timeShare
        let start = clock.secondsSpent
        var excerpts: [Excerpt] = []
        for time in times(source.scan) {
            if !excerpts.isEmpty, clock.secondsSpent - start > limit { break }
            var excerpt = try run(
                source, at: time, shape: shape, quality: quality, secondsMax: max(0.05, limit / 3), clock: clock)
            guard excerpt.frames > 0 else { continue }
            // A decoded frame of 4K takes 12 to 25 MB; one is enough.
            if !excerpts.isEmpty || !keepsFrame { excerpt.firstFrame = nil }
            excerpts.append(excerpt)
        }
        return excerpts
    }

    /// Average seconds to decode a frame, and to encode a megapixel.
    private static func pace(_ excerpts: [Excerpt], shape: MovieShape) -> (frame: Double, megapixel: Double) {
        let frames = Double(max(1, excerpts.map(\.frames).reduce(0, +)))
        return (
            excerpts.map(\.decodingSeconds).reduce(0, +) / frames,
            excerpts.map(\.encodingSeconds).reduce(0, +) / frames / shape.megapixels
        )
    }

    /// Rate factor steps that double the bytes.
    private static func steps(_ excerpts: [Excerpt]) -> Double {
        let both = excerpts.compactMap { excerpt in
            excerpt.worseBytesPerFrame.map { (better: excerpt.bytesPerFrame, worse: $0) }
        }
        if both.isEmpty { return RateCurve.usualSteps }
        return RateCurve(
            (0, both.map(\.better).reduce(0, +)), (qualityDistance, both.map(\.worse).reduce(0, +))
        ).steps
    }

    /// Start times of the excerpts on the source's timeline, in seconds; nil for the beginning.
    private static func times(_ scan: MovieScan) -> [Double?] {
        guard let first = scan.videoScan.first, let last = scan.videoScan.last else { return [nil] }
        let count = max(1, min(excerptsMax, Int(clamping: (last - first) / secondsPerExcerpt)))
        return [nil] + (1..<max(1, count)).map { first + (last - first) * (Double($0) + 0.3) / Double(count) }
    }

    private static func run(
        _ source: MovieSource, at time: Double?, shape: MovieShape, quality: Double, secondsMax: Double,
        clock: WorkClock
    ) throws -> Excerpt {
        let movie = try source.open()
        movie.demuxer.discardStreams(except: [source.scan.video.index])
        if let time {
            let frameClock = FrameClock(movie, source.scan.video)
            let tick = frameClock.tick(ofMovieTime: time)
            guard try readingMedia({ try movie.demuxer.seek(stream: source.scan.video.index, backwardTo: tick) }) else {
                return Excerpt()
            }
        }
        var excerpt = Excerpt()
        let framesMax = max(2, min(framesMax, frameBytesMax / (shape.pixels.multiplied(clamping: 3) / 2)))
        let frames = try decode(
            source, movie: movie, shape: shape, count: framesMax, secondsMax: secondsMax, into: &excerpt, clock: clock)
        guard let begin = frames.first?.time else { return Excerpt() }
        try encode(frames, source: source, shape: shape, quality: quality, into: &excerpt, clock: clock)
        excerpt.sourceBytesPerFrame = source.scan.bytesPerFrame(
            around: begin, reach: neighborhoodSeconds)
        return excerpt
    }

    private static func decode(
        _ source: MovieSource, movie: OpenMovie, shape: MovieShape, count: Int, secondsMax: Double,
        into excerpt: inout Excerpt, clock: WorkClock
    ) throws -> [(frame: Frame, time: Double)] {
        let decoder = try TimedFrameDecoder(movie, source.scan)
        var normalizer: FrameNormalizer?
        var firstFrame: Frame?
        var frames: [(frame: Frame, time: Double)] = []
        let packet = try Packet()
        let start = clock.secondsSpent
        var first = start
        var isEnded = false
        while frames.count < count, !isEnded {
            if frames.count > 1, clock.secondsSpent - start > secondsMax { break }
            isEnded = try !movie.demuxer.readLeniently(into: packet)
            if !isEnded, packet.streamIndex != source.scan.video.index { continue }
            try decoder.feed(isEnded ? nil : packet) { frame, time in
                if frames.count >= count { return }
                let open = try normalizer ?? source.normalizer(like: frame, shape: shape)
                normalizer = open
                if firstFrame == nil { firstFrame = try frame.reference() }
                frames.append((try open.apply(frame), time))
                // The first frame includes the setup time, so it is not measured.
                if frames.count == 1 { first = clock.secondsSpent }
            }
        }
        excerpt.firstFrame = firstFrame
        excerpt.frames = frames.count
        let isSingle = frames.count < 2
        excerpt.decodingSeconds =
            isSingle
            ? clock.secondsSpent - start
            : (clock.secondsSpent - first) / Double(frames.count - 1) * Double(frames.count)
        return frames
    }

    private static func encode(
        _ frames: [(frame: Frame, time: Double)], source: MovieSource, shape: MovieShape, quality: Double,
        into excerpt: inout Excerpt, clock: WorkClock
    ) throws {
        var settings = VideoEncoderSettings(
            width: shape.width, height: shape.height, frameRate: min(240, source.scan.frameRate), preset: trialPreset,
            quality: quality, colors: .bt709)
        let start = clock.secondsSpent
        excerpt.bytesPerFrame = try bytesPerFrame(frames, settings: settings)
        excerpt.encodingSeconds = clock.secondsSpent - start
        if excerpt.encodingSeconds > clock.secondsLeft * timeShare / Double(excerptsMax * 2) { return }
        settings.quality += qualityDistance
        excerpt.worseBytesPerFrame = try bytesPerFrame(frames, settings: settings)
    }

    /// Average bytes per frame, with keyframes at the final interval.
    static func bytesPerFrame(
        _ frames: [(frame: Frame, time: Double)], settings: VideoEncoderSettings
    ) throws -> Double {
        let (first, others) = try readingMedia { try bytes(frames, settings: settings) }
        let group = max(1, min(250, settings.frameRate * 2))
        let following = frames.count > 1 ? Double(others) / Double(frames.count - 1) : Double(first) / 10
        return (Double(first) + following * (group - 1)) / group
    }

    /// Bytes of the first frame, and of all others together.
    private static func bytes(
        _ frames: [(frame: Frame, time: Double)], settings: VideoEncoderSettings
    ) throws -> (Int, Int) {
        let encoder = try Encoder.video(settings)
        var sizes: [Int] = []
        let packet = try Packet()
        func receive() throws {
            while try encoder.receive(into: packet) == .packet { sizes.append(packet.byteCount) }
        }
        for (index, item) in frames.enumerated() {
            let time = Double(index) * Double(VideoEncoderSettings.ticksPerSecond) / settings.frameRate
            item.frame.setTime(Int64(clamping: time))
            while try !encoder.send(item.frame) { try receive() }
            try receive()
        }
        _ = try encoder.send(nil)
        try receive()
        return (sizes.first ?? 0, sizes.dropFirst().reduce(0, +))
    }
}
