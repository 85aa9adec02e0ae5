import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Converts a movie to MP4: copies streams where possible and encodes the others, within the byte and time limits.
struct MovieConversion {
    private let conversion: AttachmentConversion
    private let rendition: MovieRendition
    private var clock: WorkClock { conversion.clock }

    init(_ conversion: AttachmentConversion, _ rendition: MovieRendition) {
        self.conversion = conversion
        self.rendition = rendition
    }

    func run() throws -> RenderedMedia {
        if conversion.request.attachment?.isCopy == true, let media = try copy(MovieSource(conversion, isForCopy: true))
        {
            return media
        }
        let source = try MovieSource(conversion)
        if let media = try copy(source) { return media }
        WorkReporter.encode()
        var report = MovieReport(conversion, rendition, source)
        return try encode(source, report: &report)
    }

    // MARK: Copied video

    /// Copies the movie's video; nil when it cannot be copied or would be too large.
    private func copy(_ source: MovieSource) throws -> RenderedMedia? {
        let scan = source.scan
        guard rendition.copiesVideo, scan.videoScan.hiding != .middle, scan.videoScan.validDecodingTimes != nil,
            scan.videoScan.bytes < rendition.bytesMax, scan.parameterSets?.isCopyable ?? true
        else { return nil }
        let target = MovieByteTarget(scan, rendition)
        let left = Double(rendition.bytesMax.subtracting(clamping: scan.videoScan.bytes)) - target.overhead
        var audioPlans: [MoviePlan.Audio] = []
        if target.canCopyAudio { audioPlans.append(.copied) }
        if let settings = target.audio(bytesMax: left), scan.audio != nil { audioPlans.append(.encoded(settings)) }
        if scan.audio == nil { audioPlans = [.none] }
        // Encoded audio has to be decoded first, which a source opened for copying does not support.
        if source.isForCopy { audioPlans.removeAll { if case .encoded = $0 { true } else { false } } }
        for audio in audioPlans {
            do {
                let written = try pass(source, canRestart: false).run(
                    MoviePlan(video: .copied, audio: audio), indexBytes: target.indexReserve)
                var report = MovieReport(conversion, rendition, source)
                report.record(audio: audio, full: target.fullAudio)
                return report.media(written)
            } catch is MovieEncodeError {
                continue
            }
        }
        return nil
    }

    private func pass(_ source: MovieSource, canRestart: Bool) -> MoviePass {
        MoviePass(
            source: source, output: conversion.output, bytesMax: rendition.bytesMax, clock: clock,
            canRestart: canRestart)
    }

    // MARK: Encoded video

    /// Encodes the video; audio that MP4 cannot hold is encoded as well.
    private func encode(_ source: MovieSource, report: inout MovieReport) throws -> RenderedMedia {
        let target = MovieByteTarget(source.scan, rendition)
        let audio = target.audioBesideEncoded
        do {
            return try encode(source, audio: audio, target: target, report: &report)
        } catch MovieEncodeError.muxerFailed(let error) {
            guard audio == .copied, let settings = target.fullAudio else {
                throw error.attachPrepError(
                    .mediaCorrupt, message: "The movie is damaged: its streams do not fit into an MP4.")
            }
            return try encode(source, audio: .encoded(settings), target: target, report: &report)
        }
    }

    private func encode(
        _ source: MovieSource, audio: MoviePlan.Audio, target: MovieByteTarget, report: inout MovieReport
    ) throws -> RenderedMedia {
        let shape = MovieShape(
            width: source.displayed.width, height: source.displayed.height,
            longSideMax: min(rendition.longSideMax ?? .max, Limits.movieLongSidePixelsMax),
            shortSideMax: min(rendition.shortSideMax ?? .max, Limits.movieShortSidePixelsMax))
        let videoBytes = target.videoBytes(beside: audio)
        let isPressed = target.isPressed
        let trial = TrialEncode.shape(shape, bytes: videoBytes, scan: source.scan)
        let quality = TrialEncode.quality(trial, bytes: videoBytes, scan: source.scan)
        var trialEncode = try TrialEncode.run(source, shape: trial, quality: quality, clock: clock)
        func estimated() -> EncodeEstimate {
            var estimate = EncodeEstimate(
                shape: shape, frameRate: source.scan.frameRate,
                frameRateMax: min(rendition.frameRateMax ?? .infinity, Limits.movieFrameRateMax),
                duration: min(target.cut ?? .infinity, source.scan.end), trialEncode: trialEncode, bytesMax: videoBytes,
                qualityBest: isPressed ? Limits.movieQualityBest : Limits.movieQuality, secondsLeft: clock.secondsLeft)
            if !isPressed {
                estimate.capQuality(toBytes: source.scan.videoScan.bytes, codec: source.scan.video.codec)
            }
            return estimate
        }
        let estimate = try estimated().renewedIfForced {
            try trialEncode.renewPace(source, quality: quality, clock: clock)
            return estimated()
        }
        report.record(audio: audio, full: target.fullAudio)
        let encoding = MovieEncoding(bytesMax: rendition.bytesMax, clock: clock)
        let (choice, written) = try encoding.run(estimate, cut: target.cut) { choice, rateController, canRestart in
            try pass(source, canRestart: canRestart).run(
                MoviePlan(
                    video: .encoded(choice, rateController, firstFrame: trialEncode.firstFrame), audio: audio,
                    cut: choice.cut))
        }
        report.record(choice, estimate: estimate, written: written)
        return report.media(written)
    }
}

/// The source movie, which can be opened repeatedly, and the result of one pass over its packets.
struct MovieSource {
    let descriptor: CInt
    let format: MediaFormat
    let scan: MovieScan
    let geometry: DisplayGeometry
    let deadline: ContinuousClock.Instant
    /// Whether nothing will be decoded, so that codecs are taken from the header alone.
    let isForCopy: Bool

    init(_ conversion: AttachmentConversion, isForCopy: Bool = false) throws {
        self.isForCopy = isForCopy
        descriptor = conversion.source
        format = conversion.request.format
        deadline = conversion.clock.deadline
        let movie = try OpenMovie.open(
            descriptor, format: format, isRecognized: true, isForCopy: isForCopy, deadline: deadline)
        scan = try MovieScan.read(movie, deadline: deadline)
        geometry = DisplayGeometry(scan.video)
    }

    /// Opens the file at its beginning.
    func open() throws -> OpenMovie {
        try OpenMovie.open(
            descriptor, format: format, isRecognized: true, isForCopy: isForCopy, deadline: deadline)
    }

    /// Displayed size in pixels; fractional where pixels are not square.
    var displayed: (width: Double, height: Double) {
        let width = Double(scan.video.width) * geometry.sampleAspectRatio
        let height = Double(scan.video.height)
        return geometry.orientation.swapsSides ? (height, width) : (width, height)
    }

    func normalizer(like frame: Frame, shape: MovieShape) throws -> FrameNormalizer {
        try FrameNormalizer(
            like: frame, shape: shape, orientation: geometry.orientation, transfer: scan.video.transfer)
    }
}
