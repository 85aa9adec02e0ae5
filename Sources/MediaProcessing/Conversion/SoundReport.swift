import LibAV
import MediaEngine
import RichPush
import SafeArithmetic

/// What an encoded sound gave up, in sentences.
struct SoundReport {
    /// Seconds that may be missing at an end before it counts as cut: encoders' and headers' roundings.
    private static let cutSecondsMin = 0.25

    let source: SoundSource
    let bytesMax: Int
    /// What it would be without pressure.
    let full: SoundLadder.Rung
    let fitted: SoundFitting.Fitted

    private var rung: SoundLadder.Rung { fitted.outcome.rung }

    /// What was given up, for the manifest's reasons.
    var concessions: [String] {
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
        if isCut { sentences.append("\(kept) \(fitted.outcome.isCutByTime ? "because time ran short" : limit)") }
        return sentences
    }

    var warnings: [PreparationWarning] {
        var warnings: [PreparationWarning] = []
        if isCut { warnings.append(PreparationWarning(.mediaCut, "The sound was cut: \(kept).")) }
        if isDegraded {
            let less = fitted.outcome.isCutByTime ? "shorter" : "less carefully encoded"
            warnings.append(
                PreparationWarning(.deadlineDegraded, "The sound is \(less) than asked for, because time ran short."))
        }
        return warnings
    }

    /// Whether time forced less than was asked.
    var isDegraded: Bool { fitted.outcome.isQuick || fitted.outcome.isCutByTime }

    /// Bits a second that came out.
    private var bitRate: Int {
        // Bounded: floating point, until it is clamped.
        Int(clamping: Double(fitted.outcome.bytes) * 8 / max(fitted.outcome.seconds, 0.1))
    }

    private var isCut: Bool {
        let isMeant = rung.keptSeconds != nil || fitted.outcome.isCutByTime || fitted.isPrefix
        // Bounded: floating point.
        return isMeant && fitted.seconds < source.duration - Self.cutSecondsMin
    }

    private var kept: String {
        "the first \(Self.length(fitted.seconds)) of \(Self.length(source.duration)) were kept"
    }

    /// Seconds as a person reads them: one decimal where that says something.
    static func length(_ seconds: Double) -> String {
        // Bounded: floating point, until it is clamped.
        let tenths = Int(clamping: (seconds * 10).rounded())
        return seconds < 100 && tenths % 10 != 0 ? "\(tenths / 10).\(tenths % 10) s" : "\((tenths / 10).grouped) s"
    }

    private static func name(_ channels: Int) -> String { channels == 1 ? "mono" : "stereo" }
}
