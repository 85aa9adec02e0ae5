import LibAV
import RichPush
import SafeArithmetic

/// What a sound is encoded as: full quality, less for a limit in bytes, or a prefix where even little is too much.
// Bounded throughout: floating point; one or two channels, and rates of `Encoder.audioSampleRates`.
struct SoundLadder: Sendable, Hashable {
    /// One rung.
    struct Rung: Sendable, Hashable {
        /// Bits a second.
        var bitRate: Int
        var channels: Int
        var sampleRate: Int
        /// Seconds that are kept; nil for all.
        var keptSeconds: Double?
        /// Whether more bytes would make it no better.
        var isFull: Bool

        var settings: AudioEncoderSettings {
            AudioEncoderSettings(bitRate: bitRate, channels: channels, sampleRate: sampleRate)
        }
    }

    /// Bytes of an M4A's header, and of its index for each packet.
    private static let headerBytes = 1_000.0
    private static let packetBytes = 4.3
    private static let packetSamples = 1_024.0

    /// Seconds.
    let duration: Double
    let channels: Int
    let sampleRate: Int
    /// Bits a second of the source, where known.
    let sourceBitRate: Int?
    let bytesMax: Int
    /// Bits a second at most; nil for good quality.
    let bitRateMax: Int?

    /// The best rung that fits.
    var best: Rung { rung(budget: Double(bytesMax) * Limits.soundFillShare) }

    /// The rung for a number of bytes.
    func rung(budget: Double) -> Rung {
        let affordable = bitRate(budget: budget, sampleRate: fullSampleRate)
        if affordable >= fullBitRate { return full }
        if affordable >= bitRateMin { return reduced(to: affordable) }
        var rung = reduced(to: bitRateMin)
        rung.keptSeconds = seconds(budget: budget, rung, bitRate: Double(bitRateMin))
        return rung
    }

    /// The rung for a number of bytes, knowing what a pass gave: encoders spend more than they are asked for on sounds
    /// that come and go, and less on simple ones.
    ///
    /// - Parameter measured: Bits a second that came of `rung`.
    func rung(budget: Double, after rung: Rung, measured: Double) -> Rung {
        let asked = Double(rung.bitRate) / max(measured, 1)
        let affordable = bitRate(budget: budget, sampleRate: rung.sampleRate)
        let wanted = Int(clamping: Double(affordable) * asked)
        // Of a simple sound few bits are as good as many.
        let worth = max(affordable, wanted)
        if wanted >= fullBitRate { return full }
        var next = reduced(to: min(max(worth, bitRateMin), fullBitRate))
        if worth >= bitRateMin {
            next.bitRate = min(max(wanted, bitRateMin / 2), fullBitRate)
        } else {
            next.bitRate = min(max(Int(clamping: Double(bitRateMin) * min(asked, 1)), bitRateMin / 2), fullBitRate)
            let kept = seconds(budget: budget, next, bitRate: Double(next.bitRate) / asked)
            next.keptSeconds = kept < duration ? kept : nil
        }
        return next
    }

    /// Bytes of an M4A beside its samples.
    static func overheadBytes(seconds: Double, sampleRate: Int) -> Double {
        headerBytes + packetBytes * seconds * Double(sampleRate) / packetSamples
    }

    /// Good quality without pressure.
    var full: Rung {
        Rung(bitRate: fullBitRate, channels: fullChannels, sampleRate: fullSampleRate, keptSeconds: nil, isFull: true)
    }

    private var fullChannels: Int { min(max(channels, 1), 2) }

    /// AAC's own rate, the source's if there is one, else the next higher.
    private var fullSampleRate: Int {
        if sampleRate > Limits.soundSampleRateMax {
            return sampleRate % 44_100 == 0 ? 44_100 : Limits.soundSampleRateMax
        }
        return Encoder.audioSampleRates.last { $0 >= max(sampleRate, 8_000) } ?? Limits.soundSampleRateMax
    }

    private var fullBitRate: Int {
        let good = fullChannels * min(Limits.soundBitsPerSecondChannel, fullSampleRate * Limits.soundBitsPerSample)
        let worth = sourceBitRate.map {
            max(
                Int(clamping: min(Double($0) * Limits.soundSourceBitsShare, 1e9)),
                fullChannels * Limits.soundBitsPerSecondChannelMin)
        }
        return min(good, worth ?? good, bitRateMax ?? good)
    }

    private var bitRateMin: Int { min(Limits.soundBitsPerSecondMin, fullBitRate) }

    private func reduced(to bitRate: Int) -> Rung {
        let channels = bitRate < Limits.soundStereoBitsPerSecondMin ? 1 : fullChannels
        let isNarrow = bitRate / channels < Limits.soundFullBandBitsPerSecondMin
        let sampleRate = isNarrow ? min(fullSampleRate, Limits.soundNarrowBandSampleRate) : fullSampleRate
        return Rung(bitRate: bitRate, channels: channels, sampleRate: sampleRate, keptSeconds: nil, isFull: false)
    }

    private func bitRate(budget: Double, sampleRate: Int) -> Int {
        let left = budget - Self.overheadBytes(seconds: duration, sampleRate: sampleRate)
        return Int(clamping: max(0, min(left * 8 / max(duration, 0.001), 1e9)))
    }

    /// Seconds that fit at the bit rate that comes out.
    private func seconds(budget: Double, _ rung: Rung, bitRate: Double) -> Double {
        let packets = Self.packetBytes * Double(rung.sampleRate) / Self.packetSamples
        return min(duration, max(0, budget - Self.headerBytes) / (bitRate / 8 + packets))
    }
}
