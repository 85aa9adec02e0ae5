import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Chooses the encoder's settings: full quality, reduced quality for a byte limit, or a prefix where the minimum is too
/// large.
struct AudioLadder: Sendable, Hashable {
    /// One combination of settings.
    struct Rung: Sendable, Hashable {
        /// Bits per second.
        var bitRate: Int
        var channels: Int
        var sampleRate: Int
        /// Seconds kept; nil for all.
        var keptSeconds: Double?
        /// Whether more bytes would not improve the quality.
        var isFull: Bool

        func settings(_ format: AudioRendition.Format) -> AudioEncoderSettings {
            AudioEncoderSettings(
                format == .m4a ? .aac : .mp3, bitRate: bitRate, channels: channels, sampleRate: sampleRate)
        }
    }

    /// Bytes of a file's header, at most.
    private static let headerBytes = 1_000.0
    /// Bytes of an M4A's index per packet; the headers of MP3 frames count in their bit rate.
    private var packetBytes: Double { format == .m4a ? 4.3 : 0 }
    private static let packetSamples = 1_024.0

    var format = AudioRendition.Format.m4a
    /// Duration in seconds.
    let duration: Double
    let channels: Int
    let sampleRate: Int
    /// Source bit rate in bits per second; nil if unknown.
    let sourceBitRate: Int?
    let bytesMax: Int
    /// Maximum bits per second; nil for good quality.
    let bitRateMax: Int?

    /// The best rung that fits.
    var best: Rung { rung(budget: Double(bytesMax) * Limits.audioFillShare) }

    /// The rung for a budget in bytes.
    func rung(budget: Double) -> Rung {
        let affordable = bitRate(budget: budget, sampleRate: fullSampleRate)
        if affordable >= fullBitRate { return full }
        if affordable >= bitRateMin { return reduced(to: affordable) }
        var rung = reduced(to: bitRateMin)
        rung.keptSeconds = seconds(budget: budget, rung, bitRate: Double(bitRateMin))
        return rung
    }

    /// The rung for a budget in bytes, given the result of a pass: encoders exceed the requested rate for intermittent
    /// audio and stay below it for simple audio.
    ///
    /// - Parameter measured: Bits per second that resulted from `rung`.
    func rung(budget: Double, after rung: Rung, measured: Double) -> Rung {
        let requested = Double(rung.bitRate) / max(measured, 1)
        let affordable = bitRate(budget: budget, sampleRate: rung.sampleRate)
        let wanted = Int(clamping: Double(affordable) * requested)
        // For simple audio, few bits are as good as many.
        let worth = max(affordable, wanted)
        if wanted >= fullBitRate { return full }
        var next = reduced(to: min(max(worth, bitRateMin), fullBitRate))
        if worth >= bitRateMin {
            next.bitRate = min(max(wanted, bitRateMin / 2), fullBitRate)
        } else {
            next.bitRate = min(max(Int(clamping: Double(bitRateMin) * min(requested, 1)), bitRateMin / 2), fullBitRate)
            let kept = seconds(budget: budget, next, bitRate: Double(next.bitRate) / requested)
            next.keptSeconds = kept < duration ? kept : nil
        }
        return next
    }

    /// Bytes of a file without its samples.
    func overheadBytes(seconds: Double, sampleRate: Int) -> Double {
        Self.headerBytes + packetBytes * seconds * Double(sampleRate) / Self.packetSamples
    }

    /// Settings for good quality without a byte limit.
    var full: Rung {
        Rung(bitRate: fullBitRate, channels: fullChannels, sampleRate: fullSampleRate, keptSeconds: nil, isFull: true)
    }

    private var fullChannels: Int { min(max(channels, 1), 2) }

    /// A sample rate that AAC supports: the source's, otherwise the next higher one, up to the maximum.
    private var fullSampleRate: Int {
        if sampleRate > Limits.audioSampleRateMax {
            return sampleRate % 44_100 == 0 ? 44_100 : Limits.audioSampleRateMax
        }
        return Encoder.audioSampleRates.last { $0 >= max(sampleRate, 8_000) } ?? Limits.audioSampleRateMax
    }

    private var fullBitRate: Int {
        let good = fullChannels * min(Limits.audioBitsPerSecondChannel, fullSampleRate * Limits.audioBitsPerSample)
        let worth = sourceBitRate.map {
            max(
                Int(clamping: min(Double($0) * Limits.audioSourceBitsShare, 1e9)),
                fullChannels * Limits.audioBitsPerSecondChannelMin)
        }
        return min(good, worth ?? good, bitRateMax ?? good)
    }

    private var bitRateMin: Int { min(Limits.audioBitsPerSecondMin, fullBitRate) }

    private func reduced(to bitRate: Int) -> Rung {
        let channels = bitRate < Limits.audioStereoBitsPerSecondMin ? 1 : fullChannels
        let isNarrow = bitRate / channels < Limits.audioFullBandBitsPerSecondMin
        let sampleRate = isNarrow ? min(fullSampleRate, Limits.audioNarrowBandSampleRate) : fullSampleRate
        return Rung(bitRate: bitRate, channels: channels, sampleRate: sampleRate, keptSeconds: nil, isFull: false)
    }

    private func bitRate(budget: Double, sampleRate: Int) -> Int {
        let left = budget - overheadBytes(seconds: duration, sampleRate: sampleRate)
        return Int(clamping: max(0, min(left * 8 / max(duration, 0.001), 1e9)))
    }

    /// Seconds that fit at the resulting bit rate.
    private func seconds(budget: Double, _ rung: Rung, bitRate: Double) -> Double {
        let packets = packetBytes * Double(rung.sampleRate) / Self.packetSamples
        return min(duration, max(0, budget - Self.headerBytes) / (bitRate / 8 + packets))
    }
}

extension Limits {
    /// AAC is transparent at 96 kbit/s per channel on a phone's loudspeaker.
    static let audioBitsPerSecondChannel = 96_000
    /// AAC bits per sample for low sample rates: as good as the rate allows.
    static let audioBitsPerSample = 3
    /// Bit rate of a second lossy encoding relative to the first, to keep its quality.
    static let audioSourceBitsShare = 1.5
    /// The lowest bit rate per channel: below it, AAC artifacts are audible for any source.
    static let audioBitsPerSecondChannelMin = 32_000
    /// The lowest bit rate, speech grade: below it, audio is cut instead.
    static let audioBitsPerSecondMin = 48_000
    /// Below this bit rate, stereo sounds worse than mono.
    static let audioStereoBitsPerSecondMin = 72_000
    /// Bits per second and channel below which high frequencies are removed.
    static let audioFullBandBitsPerSecondMin = 56_000
    /// The sample rate used then: frequencies up to 15 kHz.
    static let audioNarrowBandSampleRate = 32_000
    /// The highest sample rate that phones play.
    static let audioSampleRateMax = 48_000
    /// Target share of the allowed bytes; encoders keep a bit rate to within a few percent.
    static let audioFillShare = 0.97
}
