import LibAV
import MediaEngine
import RichPush

/// Writes a sound as M4A: copied where its stream fits, else encoded as well as the bytes and the time allow. A WAV
/// whose samples nobody counted stays one.
struct SoundConversion {
    private let conversion: AttachmentConversion
    private let source: SoundSource
    private let rendition: SoundRendition
    private let file: SoundFile
    private let clock: WorkClock

    init(_ conversion: AttachmentConversion, _ rendition: SoundRendition) throws {
        self.conversion = conversion
        source = try SoundSource.read(
            conversion.source, format: conversion.request.format, deadline: conversion.clock.deadline)
        self.rendition = rendition
        // iOS attaches no larger one, and what is encoded is held in memory.
        let bytesMax = min(rendition.bytesMax, Limits.audioBytesMax)
        file = SoundFile(output: conversion.output, bytesMax: bytesMax, deadline: conversion.clock.deadline)
        clock = conversion.clock
    }

    func run() throws -> RenderedMedia {
        if rendition.completesWave {
            let wave = WaveCompletion(source: conversion.source, output: conversion.output, clock: clock)
            return rendered(try wave.run(), as: .wave, seconds: source.duration)
        }
        if mayCopy,
            let bytes = try SoundCopy(source: source, file: file, clock: clock).run()
        {
            return rendered(bytes, seconds: source.duration)
        }
        let fitting = SoundFitting(source: source, ladder: ladder, file: file, clock: clock)
        let fitted = try readingMedia(fitting.run)
        var media = rendered(fitted.bytes, seconds: fitted.seconds)
        let report = SoundReport(source: source, bytesMax: file.bytesMax, full: ladder.full, fitted: fitted)
        media.concessions = report.concessions
        // Bounded: lists.
        media.warnings += report.warnings
        media.isDegraded = report.isDegraded
        return media
    }

    /// What is damaged is decoded, so that nothing broken is passed on.
    private var mayCopy: Bool {
        let keepsRate = rendition.bitRateMax.map { source.bitRate ?? .max <= $0 } ?? true
        return rendition.copies && !rendition.isRepair && keepsRate
    }

    private var ladder: SoundLadder {
        SoundLadder(
            duration: source.duration, channels: source.stream.channels, sampleRate: source.stream.sampleRate,
            sourceBitRate: source.bitRate, bytesMax: file.bytesMax, bitRateMax: rendition.bitRateMax)
    }

    private func rendered(_ bytes: Int, as type: AttachmentType = .mpeg4Audio, seconds: Double) -> RenderedMedia {
        var media = RenderedMedia()
        media.attachment = RenderedAttachment(type: type, bytes: bytes)
        media.attachment?.duration = seconds.roundedToMicroseconds
        if rendition.isRepair {
            media.warnings.append(
                PreparationWarning(
                    .mediaRepaired, "The sound is damaged; \(SoundReport.length(source.duration)) of it could be read.")
            )
        }
        return media
    }
}
