import LibAV
import MediaEngine
import RichPush
import SafeArithmetic

/// Writes a movie as MP4: what fits is copied, the rest is encoded, within bytes and time.
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
        var report = MovieReport(conversion, rendition, source)
        return try encode(source, report: &report)
    }

    // MARK: Pictures as they are

    /// The movie with its pictures copied; nil when they cannot be, or would be too large.
    private func copy(_ source: MovieSource) throws -> RenderedMedia? {
        let scan = source.scan
        guard rendition.copiesVideo, scan.pictures.hiding != .middle, scan.pictures.soundDecodingTimes != nil,
            scan.pictures.bytes < rendition.bytesMax
        else { return nil }
        let budget = MovieBudget(scan, rendition)
        // Bounded: floating point.
        let left = Double(rendition.bytesMax.subtracting(clamping: scan.pictures.bytes)) - budget.overhead
        var sounds: [MoviePlan.Sound] = []
        if budget.canCopySound { sounds.append(.copied) }
        if let settings = budget.sound(bytesMax: left), scan.audio != nil { sounds.append(.encoded(settings)) }
        if scan.audio == nil { sounds = [.none] }
        // A sound that is encoded is decoded first.
        if source.isForCopy { sounds.removeAll { if case .encoded = $0 { true } else { false } } }
        for sound in sounds {
            do {
                let written = try pass(source, canRestart: false).run(
                    MoviePlan(picture: .copied, sound: sound), indexBytes: budget.roomForIndex)
                var report = MovieReport(conversion, rendition, source)
                report.note(sound: sound, full: budget.fullSound)
                return report.media(written)
            } catch is MovieFailure {
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

    // MARK: Pictures anew

    /// Sound that no MP4 holds as it is, whatever its header says, is encoded as well.
    private func encode(_ source: MovieSource, report: inout MovieReport) throws -> RenderedMedia {
        let budget = MovieBudget(source.scan, rendition)
        let sound = budget.soundBesideEncoded
        do {
            return try encode(source, sound, budget, report: &report)
        } catch MovieFailure.refused(let error) {
            guard sound == .copied, let settings = budget.fullSound else {
                throw error.fault(.mediaCorrupt, "The movie is damaged: what is in it fits no MP4.")
            }
            return try encode(source, .encoded(settings), budget, report: &report)
        }
    }

    private func encode(
        _ source: MovieSource, _ sound: MoviePlan.Sound, _ budget: MovieBudget, report: inout MovieReport
    ) throws -> RenderedMedia {
        let shape = MovieShape(
            width: source.displayed.width, height: source.displayed.height,
            longSideMax: min(rendition.longSideMax ?? .max, Limits.movieLongSidePixelsMax),
            shortSideMax: min(rendition.shortSideMax ?? .max, Limits.movieShortSidePixelsMax))
        let videoBytes = budget.videoBytes(beside: sound)
        let isPressed = budget.isPressed
        let trial = MoviePilot.shape(shape, bytes: videoBytes, scan: source.scan)
        let pilot = try MoviePilot.fly(
            source, shape: trial, quality: MoviePilot.quality(trial, bytes: videoBytes, scan: source.scan), clock: clock
        )
        var load = MovieLoad(
            shape: shape, frameRate: source.scan.frameRate,
            frameRateMax: min(rendition.frameRateMax ?? .infinity, Limits.movieFrameRateMax),
            duration: min(budget.cut ?? .infinity, source.scan.end), pilot: pilot, bytesMax: videoBytes,
            qualityBest: isPressed ? Limits.movieQualityBest : Limits.movieQuality, secondsLeft: clock.secondsLeft)
        if !isPressed { load.keepToWorth(ofBytes: source.scan.pictures.bytes, codec: source.scan.video.codec) }
        report.note(sound: sound, full: budget.fullSound)
        let encoding = MovieEncoding(bytesMax: rendition.bytesMax, clock: clock)
        let (choice, written) = try encoding.run(load, cut: budget.cut) { choice, steering, canRestart in
            try pass(source, canRestart: canRestart).run(
                MoviePlan(
                    picture: .encoded(choice, steering, sample: pilot.sample), sound: sound, cut: choice.cut))
        }
        report.note(choice, load: load, written: written)
        return report.media(written)
    }
}
