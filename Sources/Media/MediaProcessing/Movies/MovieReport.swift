import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Collects the result of a movie conversion.
struct MovieReport {
    private let conversion: AttachmentConversion
    private let rendition: MovieRendition
    private let source: MovieSource
    private var reductions: QualityReductions
    private var shape: (width: Int, height: Int)
    /// Rotation that a player still has to apply.
    private var orientation: Orientation

    init(_ conversion: AttachmentConversion, _ rendition: MovieRendition, _ source: MovieSource) {
        self.conversion = conversion
        self.rendition = rendition
        self.source = source
        reductions = QualityReductions(bytesMax: rendition.bytesMax)
        shape = (source.geometry.width, source.geometry.height)
        orientation = source.geometry.orientation
    }

    /// Records how the audio was written.
    mutating func record(audio: MoviePlan.Audio, full: AudioEncoderSettings?) {
        reductions.record(audio: audio, full: full)
    }

    /// Records how the video was encoded.
    mutating func record(_ choice: MovieChoice, estimate: EncodeEstimate, written: MoviePassResult) {
        shape = (choice.shape.width, choice.shape.height)
        orientation = .upright
        reductions.record(choice, estimate: estimate, written: written)
    }

    func media(_ written: MoviePassResult) -> RenderedMedia {
        var reductions = reductions
        reductions.recordLength(written.duration, of: source.scan.duration)
        if rendition.isRepair { reductions.recordRepair() }
        reductions.record(
            MediaLoss(
                tracks: source.scan.omittedTracks, packets: written.undecodablePackets,
                seconds: written.undecodableSeconds))
        var media = reductions.media(written, shape: shape, orientation: orientation)
        if case .movieTime(let time) = conversion.request.frameSelection {
            let position = source.scan.timeline.output(time)
            media.attachmentPosition = .seconds(max(0, min(position, written.duration)).roundedToMicroseconds)
        }
        return media
    }
}

/// Describes what a converted movie lost, as sentences and warnings.
struct QualityReductions {
    /// Seconds that may be missing at the end before the movie counts as cut.
    private static let cutSecondsMin = 0.25

    let bytesMax: Int
    private(set) var reductions: [String] = []
    private(set) var warnings: [PreparationWarning] = []
    private(set) var isDegraded = false

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Why something was reduced that both limits can reduce: not for its bytes if half of them are left.
    private var limit: String { isByTime ? "because time ran short" : "to fit \(bytesMax.grouped) bytes" }
    private var isByTime = false

    /// Records how the audio was written.
    mutating func record(audio: MoviePlan.Audio, full: AudioEncoderSettings?) {
        guard case .encoded(let settings) = audio, let full else { return }
        if settings.channels < full.channels { reductions.append("stereo audio was mixed down to mono \(limit)") }
        if settings.bitRate < full.bitRate {
            reductions.append("the audio bit rate was lowered to \(settings.bitRate / 1_000) kbit/s \(limit)")
        }
    }

    /// Records how the video was encoded.
    mutating func record(_ choice: MovieChoice, estimate: EncodeEstimate, written: MoviePassResult) {
        isDegraded = choice.isForcedByTime || written.stoppedAt != nil
        isByTime = isDegraded && written.bytes < bytesMax / 2
        let why = choice.isForcedByTime ? "because time ran short" : limit
        if choice.shape != estimate.shape {
            reductions.append("the video was reduced to \(choice.shape.text) pixels \(why)")
        }
        if let rate = choice.frameRateMax, rate < min(estimate.frameRate, estimate.frameRateMax) * 0.98 {
            reductions.append("the frame rate was lowered to \(Int(clamping: rate.rounded())) frames/s \(why)")
        }
        if choice.skipping != .none {
            let which =
                choice.skipping == .keyframesOnly ? "all frames except keyframes" : "frames that no other frame needs"
            reductions.append("\(which) were dropped because time ran short")
            warnings.append(PreparationWarning(.framesDropped, "Frames were dropped because time ran short."))
        }
        if let rateController = written.rateController, rateController.quality > estimate.qualityBest + 0.5,
            written.duration > 0
        {
            let rate = Int(clamping: Double(written.videoBytes) * 8 / written.duration / 1_000)
            reductions.append("the video bit rate was lowered to \(rate.grouped) kbit/s \(limit)")
        }
    }

    /// Records the kept and the total duration in seconds.
    mutating func recordLength(_ kept: Double, of whole: Double) {
        let isCut = kept < whole - Self.cutSecondsMin
        if isCut {
            let text = "the first \(AudioReport.length(kept)) of \(AudioReport.length(whole)) were kept"
            reductions.append("\(text) \(isDegraded ? "because time ran short" : limit)")
            warnings.append(PreparationWarning(.mediaCut, "The movie was cut: \(text)."))
        }
        if isDegraded {
            let less = isCut ? "shorter" : "of lower quality"
            warnings.append(
                PreparationWarning(.deadlineDegraded, "The movie is \(less) than requested, because time ran short."))
        }
    }

    mutating func record(_ loss: MediaLoss) { warnings += loss.warnings }

    mutating func recordRepair() {
        warnings.append(
            PreparationWarning(.mediaRepaired, "The movie was damaged; its readable part was kept."))
    }

    /// The result, without the attachment position.
    func media(
        _ written: MoviePassResult, shape: (width: Int, height: Int), orientation: Orientation = .upright
    ) -> RenderedMedia {
        var attachment = RenderedAttachment(type: .mpeg4, bytes: written.bytes)
        (attachment.width, attachment.height) = shape
        attachment.duration = written.duration.roundedToMicroseconds
        attachment.orientation = orientation
        var media = RenderedMedia()
        media.attachment = attachment
        media.reductions = reductions
        media.warnings = warnings
        media.isDegraded = isDegraded
        return media
    }
}
