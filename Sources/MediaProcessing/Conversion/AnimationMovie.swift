import LibAV
import MediaEngine
import RichPush

/// Writes an animation as MP4.
struct AnimationMovie {
    private let conversion: AttachmentConversion
    private let rendition: MovieRendition
    private var clock: WorkClock { conversion.clock }

    init(_ conversion: AttachmentConversion, _ rendition: MovieRendition) {
        self.conversion = conversion
        self.rendition = rendition
    }

    func run() throws -> RenderedMedia {
        let frames = try open()
        let shape = MovieShape(
            width: Double(frames.width), height: Double(frames.height),
            longSideMax: min(rendition.longSideMax ?? .max, Limits.movieLongSidePixelsMax),
            shortSideMax: min(rendition.shortSideMax ?? .max, Limits.movieShortSidePixelsMax))
        let pilot = try AnimationPilot.fly(frames, shape: shape, clock: clock)
        let load = load(pilot, shape)
        let encoding = MovieEncoding(bytesMax: rendition.bytesMax, clock: clock)
        let (choice, written) = try encoding.run(load, cut: nil) { choice, steering, canRestart in
            try pass(pilot, choice, steering, canRestart: canRestart)
        }
        return report(pilot, load, choice, written)
    }

    private func open() throws -> any FrameSequence {
        try AnimationFrames.open(
            descriptor: conversion.source, format: conversion.request.format, deadline: clock.deadline)
    }

    private func load(_ pilot: AnimationPilot, _ shape: MovieShape) -> MovieLoad {
        let overhead = (pilot.times.count * Limits.movieIndexBytesPerPicture) + Limits.movieHeaderBytes
        return MovieLoad(
            shape: shape, frameRate: pilot.frameRate,
            frameRateMax: min(rendition.frameRateMax ?? .infinity, Limits.movieFrameRateMax),
            duration: pilot.duration, curve: pilot.curve, pilotShape: shape, pilotPreset: MoviePilot.trialPreset,
            secondsPerFrame: pilot.secondsPerFrame, secondsPerMegapixel: pilot.secondsPerMegapixel,
            bytesMax: max(1_000, Double(rendition.bytesMax) * Limits.movieFillShare - Double(overhead)),
            qualityBest: Limits.movieQuality, secondsLeft: clock.secondsLeft)
    }

    // MARK: One writing

    private func pass(
        _ pilot: AnimationPilot, _ choice: MovieChoice, _ steering: QualitySteering, canRestart: Bool
    ) throws -> MovieWritten {
        let cut = min(choice.cut ?? .infinity, pilot.duration)
        let settings = VideoEncoderSettings(
            width: choice.shape.width, height: choice.shape.height,
            frameRate: min(choice.frameRateMax ?? .infinity, max(1, pilot.frameRate)), preset: choice.preset,
            quality: steering.quality, colours: pilot.colours)
        let watch = PassWatch(clock, end: cut, secondsPerPicture: choice.secondsPerPicture, canRestart: canRestart)
        let file = MovieFile(output: conversion.output, bytesMax: rendition.bytesMax, clock: clock)
        var writer: PictureWriter?
        var isStopped = false
        let bytes = try file.write(steering: { writer?.steering }) { muxer in
            let open = try PictureWriter(
                settings, steering: steering,
                weights: ShareOfWeight(pilot.times.dropLast().map { ($0, 1) }, end: cut), ledger: SoundLedger(),
                muxer: muxer)
            writer = open
            try muxer.writeHeader()
            isStopped = try feed(open, pilot, choice, cut: cut, watch: watch)
        }
        var written = MovieWritten(bytes: bytes, duration: writer?.end ?? 0)
        written.steering = writer?.steering
        written.videoBytes = writer?.bytesWritten ?? 0
        if isStopped { written.stoppedAt = written.duration }
        return written
    }

    /// - Returns: Whether time ended it before its end.
    private func feed(
        _ writer: PictureWriter, _ pilot: AnimationPilot, _ choice: MovieChoice, cut: Double, watch: PassWatch
    ) throws -> Bool {
        let frames = try open()
        var thinning = FrameThinning(frameRateMax: choice.frameRateMax)
        var shaper: FrameShaper?
        var time = 0.0
        while time < cut, let next = try frames.next() {
            let begin = time
            time += Double(next.delayMilliseconds) / 1_000
            guard thinning.keeps(begin) else { continue }
            let frame = try Frame.picture(width: frames.width, height: frames.height, rgba: next.pixels)
            let open =
                try shaper
                ?? FrameShaper(
                    like: frame, shape: choice.shape, orientation: .upright, transfer: .standard)
            shaper = open
            try writer.write(open.apply(frame), at: begin)
            switch watch.look(at: writer, time: begin) {
            case .fine: break
            case .behind(let slowness): throw MovieFailure.behind(slowness)
            case .late:
                try writer.finish(at: min(time, cut))
                return true
            }
        }
        try writer.finish(at: min(time, choice.cut ?? time))
        return false
    }

    // MARK: The answer

    private func report(
        _ pilot: AnimationPilot, _ load: MovieLoad, _ choice: MovieChoice, _ written: MovieWritten
    ) -> RenderedMedia {
        var losses = MovieLosses(bytesMax: rendition.bytesMax)
        losses.note(choice, load: load, written: written)
        losses.noteLength(written.duration, of: pilot.duration)
        var media = losses.media(written, shape: (choice.shape.width, choice.shape.height))
        if case .animationFrame(let number) = conversion.request.picture {
            let frame = max(0, min(number, pilot.times.count - 2))
            // Bounded: floating point; an animation has a time and an end at least.
            media.attachmentPosition = .seconds(min(pilot.times[frame], written.duration).roundedToMicroseconds)
        }
        return media
    }
}
