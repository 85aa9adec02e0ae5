import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Converts an animation to MP4.
struct AnimationMovieConversion {
    private let conversion: AttachmentConversion
    private let rendition: MovieRendition
    private var clock: WorkClock { conversion.clock }

    init(_ conversion: AttachmentConversion, _ rendition: MovieRendition) {
        self.conversion = conversion
        self.rendition = rendition
    }

    func run() throws -> RenderedMedia {
        let frames = try open()
        WorkReporter.encode()
        let shape = MovieShape(
            width: Double(frames.width), height: Double(frames.height),
            longSideMax: min(rendition.longSideMax ?? .max, Limits.movieLongSidePixelsMax),
            shortSideMax: min(rendition.shortSideMax ?? .max, Limits.movieShortSidePixelsMax))
        let trialEncode = try AnimationTrialEncode.run(frames, shape: shape, clock: clock)
        let estimate = estimate(trialEncode, shape: shape)
        let encoding = MovieEncoding(bytesMax: rendition.bytesMax, clock: clock)
        let (choice, written) = try encoding.run(estimate, cut: nil) { choice, rateController, canRestart in
            try pass(trialEncode, choice: choice, rateController: rateController, canRestart: canRestart)
        }
        return report(trialEncode, estimate: estimate, choice: choice, written: written)
    }

    private func open() throws -> any AnimationDecoder {
        try AnimationDecoders.open(
            descriptor: conversion.source, format: conversion.request.format, deadline: clock.deadline)
    }

    private func estimate(_ trialEncode: AnimationTrialEncode, shape: MovieShape) -> EncodeEstimate {
        let overhead = (trialEncode.times.count * Limits.movieIndexBytesPerFrame) + Limits.movieHeaderBytes
        return EncodeEstimate(
            shape: shape, frameRate: trialEncode.frameRate,
            frameRateMax: min(rendition.frameRateMax ?? .infinity, Limits.movieFrameRateMax),
            duration: trialEncode.duration, curve: trialEncode.curve, trialShape: shape,
            trialPreset: TrialEncode.trialPreset,
            secondsPerFrame: trialEncode.secondsPerFrame, secondsPerMegapixel: trialEncode.secondsPerMegapixel,
            bytesMax: max(1_000, Double(rendition.bytesMax) * Limits.movieFillShare - Double(overhead)),
            qualityBest: Limits.movieQuality, secondsLeft: clock.secondsLeft)
    }

    // MARK: Encoding pass

    private func pass(
        _ trialEncode: AnimationTrialEncode, choice: MovieChoice, rateController: RateController, canRestart: Bool
    ) throws -> MoviePassResult {
        let cut = min(choice.cut ?? .infinity, trialEncode.duration)
        let settings = VideoEncoderSettings(
            width: choice.shape.width, height: choice.shape.height,
            frameRate: min(choice.frameRateMax ?? .infinity, max(1, trialEncode.frameRate)), preset: choice.preset,
            quality: rateController.quality, colors: trialEncode.colors)
        let watch = PassMonitor(
            clock, end: cut, encodeSecondsPerFrame: choice.encodeSecondsPerFrame, canRestart: canRestart)
        let file = MP4File(output: conversion.output, bytesMax: rendition.bytesMax, clock: clock)
        var writer: VideoWriter?
        var isStopped = false
        let bytes = try file.write(rateController: { writer?.rateController }) { muxer in
            let open = try VideoWriter(
                settings, rateController: rateController,
                weights: CumulativeWeights(trialEncode.times.dropLast().map { ($0, 1) }, end: cut),
                audioUsage: AudioByteUsage(),
                muxer: muxer)
            writer = open
            try muxer.writeHeader()
            isStopped = try feed(open, trialEncode: trialEncode, choice: choice, cut: cut, watch: watch)
        }
        var written = MoviePassResult(bytes: bytes, duration: writer?.end ?? 0)
        written.rateController = writer?.rateController
        written.videoBytes = writer?.bytesWritten ?? 0
        if isStopped { written.stoppedAt = written.duration }
        return written
    }

    /// - Returns: Whether encoding was stopped early for lack of time.
    private func feed(
        _ writer: VideoWriter, trialEncode: AnimationTrialEncode, choice: MovieChoice, cut: Double,
        watch monitor: PassMonitor
    ) throws -> Bool {
        let frames = try open()
        var watch = monitor
        var rateLimiter = FrameRateLimiter(frameRateMax: choice.frameRateMax)
        var normalizer: FrameNormalizer?
        var time = 0.0
        while time < cut, let next = try frames.next() {
            let begin = time
            time += Double(next.delayMilliseconds) / 1_000
            guard rateLimiter.keeps(begin) else { continue }
            let frame = try Frame.video(width: frames.width, height: frames.height, rgba: next.pixels)
            let open =
                try normalizer
                ?? FrameNormalizer(
                    like: frame, shape: choice.shape, orientation: .upright, transfer: .standard)
            normalizer = open
            try writer.write(open.apply(frame), at: begin)
            switch watch.check(at: writer, time: begin) {
            case .fine: break
            case .behind(let slowness): throw MovieEncodeError.behind(slowness)
            case .late:
                try writer.finish(at: min(time, cut))
                return true
            }
        }
        try writer.finish(at: min(time, choice.cut ?? time))
        return false
    }

    // MARK: Result

    private func report(
        _ trialEncode: AnimationTrialEncode, estimate: EncodeEstimate, choice: MovieChoice,
        written: MoviePassResult
    ) -> RenderedMedia {
        var reductions = QualityReductions(bytesMax: rendition.bytesMax)
        reductions.record(choice, estimate: estimate, written: written)
        reductions.recordLength(written.duration, of: trialEncode.duration)
        var media = reductions.media(written, shape: (choice.shape.width, choice.shape.height))
        if case .animationFrame(let number) = conversion.request.frameSelection {
            let frame = max(0, min(number, trialEncode.times.count - 2))
            media.attachmentPosition = .seconds(min(trialEncode.times[frame], written.duration).roundedToMicroseconds)
        }
        return media
    }
}

/// Decodes an animation before it is encoded: reads its frame times and encodes a few runs of frames to measure size
/// and speed.
struct AnimationTrialEncode {
    /// Frames per run, and maximum number of runs.
    private static let framesPerRun = 10
    private static let runsMax = 6
    /// Part of the remaining time that the trial may take; unread frames are assumed to be like the others.
    private static let timeShare = 0.3
    private static let quality = 24.0

    /// Start times of the frames in seconds, followed by the end time.
    private(set) var times: [Double] = [0]
    private(set) var colors = VideoColors.bt709
    private(set) var curve = RateCurve(bytes: 0, at: quality)
    private(set) var secondsPerFrame = 0.0
    private(set) var secondsPerMegapixel = 0.0
    private var runs: [(bytes: Double, worse: Double)] = []
    private var encodingSeconds = 0.0
    private var framesEncoded = 0

    /// Total duration in seconds.
    var duration: Double { times.last ?? 0 }
    var frameRate: Double { Double(times.count - 1) / max(0.01, duration) }

    static func run(_ frames: any AnimationDecoder, shape: MovieShape, clock: WorkClock) throws -> AnimationTrialEncode
    {
        var trialEncode = AnimationTrialEncode()
        let start = clock.secondsSpent
        let limit = clock.secondsLeft * timeShare
        let distance = max(framesPerRun, frames.count / runsMax)
        var run: [(frame: Frame, time: Double)] = []
        var normalizer: FrameNormalizer?
        var decoded = 0
        while clock.secondsSpent - start < limit || decoded < 2, let next = try frames.next() {
            try checkDeadline(clock.deadline)
            let position = decoded % distance
            if position < framesPerRun {
                let frame = try readingMedia {
                    try Frame.video(width: frames.width, height: frames.height, rgba: next.pixels)
                }
                let open =
                    try normalizer
                    ?? FrameNormalizer(
                        like: frame, shape: shape, orientation: .upright, transfer: .standard)
                normalizer = open
                run.append((try open.apply(frame), trialEncode.duration))
            }
            decoded += 1
            trialEncode.times.append(trialEncode.duration + Double(next.delayMilliseconds) / 1_000)
            if run.count == framesPerRun || position == distance - 1 {
                try trialEncode.encode(&run, shape: shape, clock: clock)
            }
        }
        guard let normalizer else { throw AttachPrepError(.mediaCorrupt, "The animation has no frame that decodes.") }
        try trialEncode.encode(&run, shape: shape, clock: clock)
        trialEncode.conclude(
            count: max(decoded, frames.count), decoded: decoded, seconds: clock.secondsSpent - start, shape: shape)
        trialEncode.colors = normalizer.colors
        return trialEncode
    }

    private mutating func encode(
        _ run: inout [(frame: Frame, time: Double)], shape: MovieShape, clock: WorkClock
    ) throws {
        if run.isEmpty { return }
        var settings = VideoEncoderSettings(
            width: shape.width, height: shape.height, frameRate: 25, preset: TrialEncode.trialPreset,
            quality: Self.quality, colors: colors)
        let start = clock.secondsSpent
        let bytes = try TrialEncode.bytesPerFrame(run, settings: settings)
        settings.quality += TrialEncode.qualityDistance
        runs.append((bytes, try TrialEncode.bytesPerFrame(run, settings: settings)))
        encodingSeconds += clock.secondsSpent - start
        framesEncoded += run.count * 2
        run = []
    }

    private mutating func conclude(count: Int, decoded: Int, seconds: Double, shape: MovieShape) {
        let delay = duration / Double(max(1, decoded))
        while times.count <= count { times.append(duration + delay) }
        secondsPerFrame = max(0, seconds - encodingSeconds) / Double(max(1, decoded))
        secondsPerMegapixel = encodingSeconds / Double(max(1, framesEncoded)) / shape.megapixels
        let mean = runs.map(\.bytes).reduce(0, +) / Double(max(1, runs.count))
        let worse = runs.map(\.worse).reduce(0, +) / Double(max(1, runs.count))
        let steps = RateCurve((0, mean), (TrialEncode.qualityDistance, worse)).steps
        curve = RateCurve(bytes: mean * Double(count), at: Self.quality, steps: steps)
    }
}
