import LibAV
import MediaEngine
import RichPush

/// What became of a movie, and what was given up for it.
struct MovieReport {
    /// Seconds that may be missing at an end before it counts as cut.
    private static let cutSecondsMin = 0.25

    private let conversion: AttachmentConversion
    private let rendition: MovieRendition
    private let source: MovieSource
    private var concessions: [String] = []
    private var shape: (width: Int, height: Int)
    private var isDegraded = false

    init(_ conversion: AttachmentConversion, _ rendition: MovieRendition, _ source: MovieSource) {
        self.conversion = conversion
        self.rendition = rendition
        self.source = source
        shape = (source.geometry.width, source.geometry.height)
    }

    private var limit: String { "to fit \(rendition.bytesMax.grouped) bytes" }

    /// Notes how the sound was written.
    mutating func note(sound: MoviePlan.Sound, full: AudioEncoderSettings?) {
        guard case .encoded(let settings) = sound, let full else { return }
        if settings.channels < full.channels {
            concessions.append("stereo sound was mixed down to mono \(limit)")
        }
        if settings.bitRate < full.bitRate {
            concessions.append("the sound's bit rate was lowered to \(settings.bitRate / 1_000) kbit/s \(limit)")
        }
    }

    /// Notes how the pictures were encoded.
    mutating func note(_ choice: MovieChoice, load: MovieLoad, written: MovieWritten) {
        shape = (choice.shape.width, choice.shape.height)
        let isStopped = written.stoppedAt != nil
        isDegraded = choice.isForcedByTime || isStopped
        let why = choice.isForcedByTime ? "because time ran short" : limit
        if choice.shape != load.shape {
            concessions.append("the picture was made smaller, \(choice.shape.text), \(why)")
        }
        if let rate = choice.frameRateMax, rate < min(load.frameRate, load.frameRateMax) * 0.98 {
            concessions.append("the frame rate was lowered to \(Int(rate.rounded())) frames a second \(why)")
        }
        if let steering = written.steering, steering.quality > load.qualityBest + 0.5, written.duration > 0 {
            let rate = Int(Double(written.videoBytes) * 8 / written.duration / 1_000)
            concessions.append("the picture's bit rate was lowered to \(rate.grouped) kbit/s \(limit)")
        }
    }

    /// The answer.
    func media(_ written: MovieWritten) -> RenderedMedia {
        var media = RenderedMedia()
        var attachment = RenderedAttachment(type: .mpeg4, bytes: written.bytes)
        (attachment.width, attachment.height) = (shape.width, shape.height)
        attachment.duration = written.duration.roundedToMicroseconds
        media.attachment = attachment
        media.concessions = concessions
        media.isDegraded = isDegraded
        let whole = source.scan.duration
        let isCut = written.duration < whole - Self.cutSecondsMin
        if isCut {
            let kept =
                "the first \(SoundReport.length(written.duration)) of \(SoundReport.length(whole)) were kept"
            media.concessions.append("\(kept) \(isDegraded ? "because time ran short" : limit)")
            media.warnings.append(PreparationWarning(.mediaCut, "The movie was cut: \(kept)."))
        }
        if rendition.isRepair {
            media.warnings.append(
                PreparationWarning(.mediaRepaired, "The movie was damaged; what could be read of it was kept."))
        }
        if isDegraded {
            media.warnings.append(
                PreparationWarning(
                    .deadlineDegraded,
                    "The movie is \(isCut ? "shorter" : "coarser") than asked for, because time ran short."))
        }
        if case .movieTime(let time) = conversion.request.picture {
            let position = source.scan.timeline.output(time)
            media.attachmentPosition = .seconds(max(0, min(position, written.duration)))
        }
        return media
    }
}
