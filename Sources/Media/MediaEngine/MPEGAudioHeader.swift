/// The 4-byte header of an MPEG audio frame.
///
/// Source: ISO/IEC 11172-3, 2.4.2.3, and 13818-3, 2.4.2.3; MPEG-2.5 by the convention of MP3 encoders.
// Bounded throughout: fields of a few bits, and table values for them.
package struct MPEGAudioHeader: Sendable, Hashable {
    package enum Version: Sendable { case mpeg1, mpeg2, mpeg25 }

    package let version: Version
    /// 1, 2 or 3.
    package let layer: Int
    /// Bits per second; nil in the free format, which does not declare it.
    package let bitRate: Int?
    package let sampleRate: Int
    package let isPadded: Bool
    package let isMono: Bool

    /// Parses a header; nil if it is not valid.
    package init?(_ word: UInt32) {
        guard word >> 21 == 0x7FF else { return nil }
        switch word >> 19 & 3 {
        case 0: version = .mpeg25
        case 2: version = .mpeg2
        case 3: version = .mpeg1
        default: return nil
        }
        let layerBits = Int(word >> 17 & 3)
        let rateIndex = Int(word >> 10 & 3)
        let bitRateIndex = Int(word >> 12 & 15)
        guard layerBits != 0, rateIndex != 3, bitRateIndex != 15 else { return nil }
        layer = 4 - layerBits
        let base = [44_100, 48_000, 32_000][rateIndex]
        sampleRate = version == .mpeg1 ? base : version == .mpeg2 ? base / 2 : base / 4
        bitRate = bitRateIndex == 0 ? nil : Self.kilobits(version, layer: layer)[bitRateIndex - 1] * 1000
        isPadded = word >> 9 & 1 == 1
        isMono = word >> 6 & 3 == 3
    }

    /// Samples per channel in one frame.
    package var samples: Int {
        switch layer {
        case 1: 384
        case 2: 1152
        default: version == .mpeg1 ? 1152 : 576
        }
    }

    /// Frame length in bytes including the header; nil in the free format.
    package var frameBytes: Int? {
        guard let bitRate else { return nil }
        return layer == 1
            ? (12 * bitRate / sampleRate + paddingBytes / 4) * 4 : samples / 8 * bitRate / sampleRate + paddingBytes
    }

    package var paddingBytes: Int { isPadded ? (layer == 1 ? 4 : 1) : 0 }

    /// Bytes between the header and the position of a Xing tag.
    package var sideInformationBytes: Int {
        switch (version, isMono) {
        case (.mpeg1, false): 32
        case (.mpeg1, true), (_, false): 17
        case (_, true): 9
        }
    }

    /// Whether both headers can belong to one stream: compares the fields that may not change between frames.
    package func matches(_ other: MPEGAudioHeader) -> Bool {
        version == other.version && layer == other.layer && sampleRate == other.sampleRate
    }

    private static func kilobits(_ version: Version, layer: Int) -> [Int] {
        switch (version, layer) {
        case (.mpeg1, 1): [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448]
        case (.mpeg1, 2): [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]
        case (.mpeg1, _): [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
        case (_, 1): [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256]
        default: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
        }
    }
}
