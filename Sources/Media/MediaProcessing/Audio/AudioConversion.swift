import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Converts an audio file to M4A or MP3: copies the stream where possible, otherwise encodes it within the byte and
/// time limits. A WAV without a sample count stays a WAV and gets a complete header.
struct AudioConversion {
    private let conversion: AttachmentConversion
    private let source: AudioSource
    private let rendition: AudioRendition
    private let file: AudioFile
    private let clock: WorkClock

    init(_ conversion: AttachmentConversion, _ rendition: AudioRendition) throws {
        self.conversion = conversion
        source = try AudioSource.read(
            conversion.source, format: conversion.request.format, deadline: conversion.clock.deadline)
        self.rendition = rendition
        // iOS does not attach larger audio files, and encoded packets are held in memory.
        let bytesMax = min(rendition.bytesMax, Limits.audioBytesMax)
        file = AudioFile(
            format: rendition.format, output: conversion.output, bytesMax: bytesMax,
            deadline: conversion.clock.deadline)
        clock = conversion.clock
    }

    func run() throws -> RenderedMedia {
        if rendition.completesWave {
            let wave = WaveHeaderRepair(source: conversion.source, output: conversion.output, clock: clock)
            return rendered(try wave.run(), as: .wave, seconds: source.duration)
        }
        if mayCopy,
            let bytes = try AudioCopy(source: source, file: file, clock: clock).run()
        {
            return rendered(bytes, seconds: source.duration)
        }
        WorkReporter.encode()
        let fitting = AudioFitting(source: source, ladder: ladder, file: file, clock: clock)
        let fitted = try readingMedia(fitting.run)
        var media = rendered(fitted.bytes, seconds: fitted.seconds)
        let report = AudioReport(source: source, bytesMax: file.bytesMax, full: ladder.full, fitted: fitted)
        media.reductions = report.reductions
        media.warnings += report.warnings
        media.warnings += MediaLoss(tracks: [], seconds: fitted.encoded.undecodableSeconds).warnings
        media.isDegraded = report.isDegraded
        return media
    }

    /// Whether the stream may be copied; a damaged one is decoded, so that no errors are passed on.
    private var mayCopy: Bool {
        let keepsRate = rendition.bitRateMax.map { source.bitRate ?? .max <= $0 } ?? true
        return rendition.copies && !rendition.isRepair && keepsRate
    }

    private var ladder: AudioLadder {
        AudioLadder(
            format: rendition.format, duration: source.duration, channels: source.stream.channels,
            sampleRate: source.stream.sampleRate,
            sourceBitRate: source.bitRate, bytesMax: file.bytesMax, bitRateMax: rendition.bitRateMax)
    }

    private func rendered(_ bytes: Int, as type: AttachmentType? = nil, seconds: Double) -> RenderedMedia {
        var media = RenderedMedia()
        media.attachment = RenderedAttachment(type: type ?? file.type, bytes: bytes)
        media.attachment?.duration = seconds.roundedToMicroseconds
        media.warnings = MediaLoss(tracks: source.omittedTracks).warnings
        if rendition.isRepair {
            media.warnings.append(
                PreparationWarning(
                    .mediaRepaired, "The audio is damaged; \(AudioReport.length(source.duration)) of it could be read.")
            )
        }
        return media
    }
}

/// The audio stream of a file that is converted, and its duration measured from its samples.
struct AudioSource {
    let descriptor: CInt
    let format: MediaFormat
    let stream: StreamDescription
    /// Duration in seconds.
    let duration: Double
    /// Bits per second; nil if unknown.
    let bitRate: Int?
    /// Audio that the result does not have.
    let omittedTracks: [OmittedTrack]

    /// Reads the file once; a read error is treated as its end.
    ///
    /// - Throws: `media.corrupt` when no sample is there, `media.too_long`, `deadline.exceeded`.
    static func read(_ descriptor: CInt, format: MediaFormat, deadline: ContinuousClock.Instant) throws -> AudioSource {
        let movie = try OpenMovie.open(descriptor, format: format, isRecognized: true, deadline: deadline)
        let packetInspection = try PacketInspection.recovered(movie, deadline: deadline)
        guard let stream = movie.audio.first(where: { $0.isDecodable && packetInspection.holds($0) }),
            let end = packetInspection.times(of: stream)?.end
        else { throw empty }
        let others = movie.audio.filter { $0.index != stream.index && packetInspection.holds($0) }
        // In a container with a single stream the file size gives the bit rate.
        let isAlone = movie.streams.count == 1 && end > Self.secondsMeasurable
        let measured = isAlone ? Int(clamping: Double(movie.demuxer.fileBytes) * 8 / end) : nil
        return AudioSource(
            descriptor: descriptor, format: format, stream: stream, duration: max(0, end),
            bitRate: measured ?? stream.bitRate, omittedTracks: others.map { OmittedTrack($0) })
    }

    /// Minimum duration in seconds for which the bit rate is measured; shorter files use the header's value.
    private static let secondsMeasurable = 0.1

    static let empty = AttachPrepError(.mediaCorrupt, "The audio has no samples; send an intact file.")

    /// Opens the file again, at its beginning.
    func open(deadline: ContinuousClock.Instant) throws -> OpenMovie {
        let movie = try OpenMovie.open(descriptor, format: format, isRecognized: true, deadline: deadline)
        movie.demuxer.discardStreams(except: [stream.index])
        return movie
    }
}

/// Describes the quality that encoded audio lost, as sentences.
struct AudioReport {
    /// Seconds that may be missing at the end before the audio counts as cut: rounding by encoders and headers.
    private static let cutSecondsMin = 0.25

    let source: AudioSource
    let bytesMax: Int
    /// Settings without a byte limit.
    let full: AudioLadder.Rung
    let fitted: AudioFitting.Fitted

    private var rung: AudioLadder.Rung { fitted.encoded.rung }

    /// Reductions, for the manifest's reasons.
    var reductions: [String] {
        var sentences: [String] = []
        let limit = "to fit \(bytesMax.grouped) bytes"
        if source.stream.channels > 2 {
            sentences.append("the \(source.stream.channels) channels were mixed down to \(Self.name(rung.channels))")
        } else if rung.channels < full.channels {
            sentences.append("stereo was mixed down to mono \(limit)")
        }
        if rung.bitRate < full.bitRate {
            sentences.append("the bit rate was lowered to \(bitRate / 1_000) kbit/s \(limit)")
        }
        if rung.sampleRate < full.sampleRate {
            sentences.append("the sample rate was lowered to \(rung.sampleRate.grouped) Hz \(limit)")
        }
        if isCut { sentences.append("\(kept) \(fitted.encoded.isCutByTime ? "because time ran short" : limit)") }
        return sentences
    }

    var warnings: [PreparationWarning] {
        var warnings: [PreparationWarning] = []
        if isCut { warnings.append(PreparationWarning(.mediaCut, "The audio was cut: \(kept).")) }
        if isDegraded {
            let less = fitted.encoded.isCutByTime ? "shorter" : "less carefully encoded"
            warnings.append(
                PreparationWarning(.deadlineDegraded, "The audio is \(less) than requested, because time ran short."))
        }
        return warnings
    }

    /// Whether lack of time reduced quality or length.
    var isDegraded: Bool { fitted.encoded.isQuick || fitted.encoded.isCutByTime }

    /// Resulting bits per second.
    private var bitRate: Int {
        Int(clamping: Double(fitted.encoded.bytes) * 8 / max(fitted.encoded.seconds, 0.1))
    }

    private var isCut: Bool {
        let isIntended = rung.keptSeconds != nil || fitted.encoded.isCutByTime || fitted.isPrefix
        return isIntended && fitted.seconds < source.duration - Self.cutSecondsMin
    }

    private var kept: String {
        "the first \(Self.length(fitted.seconds)) of \(Self.length(source.duration)) were kept"
    }

    /// Seconds as text, with one decimal below 100 s.
    static func length(_ seconds: Double) -> String {
        let tenths = Int(clamping: (seconds * 10).rounded())
        return seconds < 100 && tenths % 10 != 0 ? "\(tenths / 10).\(tenths % 10) s" : "\((tenths / 10).grouped) s"
    }

    private static func name(_ channels: Int) -> String { channels == 1 ? "mono" : "stereo" }
}
