import LibAV
import MediaEngine
import RichPush
import SafeArithmetic

/// What was given up to write a movie, as sentences and warnings.
struct MovieLosses {
    /// Seconds that may be missing at an end before it counts as cut.
    private static let cutSecondsMin = 0.25

    let bytesMax: Int
    private(set) var concessions: [String] = []
    private(set) var warnings: [PreparationWarning] = []
    private(set) var isDegraded = false

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    private var limit: String { "to fit \(bytesMax.grouped) bytes" }

    /// Notes how the sound was written.
    mutating func note(sound: MoviePlan.Sound, full: AudioEncoderSettings?) {
        guard case .encoded(let settings) = sound, let full else { return }
        if settings.channels < full.channels { concessions.append("stereo sound was mixed down to mono \(limit)") }
        if settings.bitRate < full.bitRate {
            concessions.append("the sound's bit rate was lowered to \(settings.bitRate / 1_000) kbit/s \(limit)")
        }
    }

    /// Notes how the pictures were encoded.
    mutating func note(_ choice: MovieChoice, load: MovieLoad, written: MovieWritten) {
        isDegraded = choice.isForcedByTime || written.stoppedAt != nil
        let why = choice.isForcedByTime ? "because time ran short" : limit
        if choice.shape != load.shape {
            concessions.append("the picture was made smaller, \(choice.shape.text), \(why)")
        }
        if let rate = choice.frameRateMax, rate < min(load.frameRate, load.frameRateMax) * 0.98 {
            concessions.append("the frame rate was lowered to \(Int(clamping: rate.rounded())) frames a second \(why)")
        }
        if choice.haste != .none {
            let which =
                choice.haste == .keyframesOnly ? "all pictures but keyframes" : "pictures that no other one needs"
            concessions.append("\(which) were left out because time ran short")
            warnings.append(PreparationWarning(.framesDropped, "Pictures were left out, because time ran short."))
        }
        if let steering = written.steering, steering.quality > load.qualityBest + 0.5, written.duration > 0 {
            // Bounded: floating point, until it is clamped.
            let rate = Int(clamping: Double(written.videoBytes) * 8 / written.duration / 1_000)
            concessions.append("the picture's bit rate was lowered to \(rate.grouped) kbit/s \(limit)")
        }
    }

    /// Notes how many of how many seconds were kept.
    mutating func noteLength(_ kept: Double, of whole: Double) {
        // Bounded: floating point.
        let isCut = kept < whole - Self.cutSecondsMin
        if isCut {
            let text = "the first \(SoundReport.length(kept)) of \(SoundReport.length(whole)) were kept"
            concessions.append("\(text) \(isDegraded ? "because time ran short" : limit)")
            warnings.append(PreparationWarning(.mediaCut, "The movie was cut: \(text)."))
        }
        if isDegraded {
            let less = isCut ? "shorter" : "coarser"
            warnings.append(
                PreparationWarning(.deadlineDegraded, "The movie is \(less) than asked for, because time ran short."))
        }
    }

    mutating func noteRepair() {
        warnings.append(
            PreparationWarning(.mediaRepaired, "The movie was damaged; what could be read of it was kept."))
    }

    /// The answer, but for the picture's place.
    func media(
        _ written: MovieWritten, shape: (width: Int, height: Int), orientation: Orientation = .upright
    ) -> RenderedMedia {
        var attachment = RenderedAttachment(type: .mpeg4, bytes: written.bytes)
        (attachment.width, attachment.height) = shape
        attachment.duration = written.duration.roundedToMicroseconds
        attachment.orientation = orientation
        var media = RenderedMedia()
        media.attachment = attachment
        media.concessions = concessions
        media.warnings = warnings
        media.isDegraded = isDegraded
        return media
    }
}
