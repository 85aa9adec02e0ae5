import LibAV
import SafeArithmetic

/// The NAL units that a sample of H.264 or HEVC in an MP4 consists of, walked without decoding anything.
///
/// A sample that was cut, overwritten across the border of two units, exchanged with another part of the file or never
/// written does not hold what its length prefixes promise. Noise inside one unit is not seen here.
/// Source: ISO/IEC 14496-15, 5.3.3 and 8.3.3 (length prefixes); ITU-T H.264, 7.3.1, 7.3.3 and 7.4.1 (headers, no long
/// runs of zeros); ITU-T H.265, 7.3.1.2 and 7.3.6.
struct SampleStructure {
    enum Codec { case h264, hevc }

    private let codec: Codec
    /// Bytes of the length in front of each unit.
    private let lengthBytes: Int

    /// Nil for streams whose samples have no units with lengths.
    init?(_ stream: StreamDescription, isISOBaseMedia: Bool) {
        guard isISOBaseMedia else { return nil }
        self.init(codec: stream.codec, configuration: stream.configuration)
    }

    /// - Parameter configuration: The contents of the `avcC` or `hvcC` box.
    init?(codec: String, configuration: [UInt8]) {
        // Both begin with their version; what begins with a start code has no lengths.
        guard configuration.first == 1 else { return nil }
        switch (codec, configuration.count) {
        case ("h264", 7...):
            self.codec = .h264
            lengthBytes = Int(clamping: configuration[4] & 3).adding(clamping: 1)
        case ("hevc", 23...):
            self.codec = .hevc
            lengthBytes = Int(clamping: configuration[21] & 3).adding(clamping: 1)
        default: return nil
        }
    }

    /// Whether a sample is made of whole units, each of them plausible.
    func isIntact(_ packet: Packet) -> Bool {
        packet.withBytes { sample in walk(sample) { isPlausible($0) } }
    }

    /// Whether a sample is an IDR picture: neither it nor what follows refers to anything before it.
    func containsIDR(_ packet: Packet) -> Bool {
        var isAnew = false
        packet.withBytes { sample in
            _ = walk(sample) { unit in
                switch codec {
                case .h264: isAnew = isAnew || unit.byte(0) & 0x1F == 5
                case .hevc: isAnew = isAnew || (19...20).contains(unit.byte(0) >> 1)
                }
                return true
            }
        }
        return isAnew
    }

    /// Goes through a sample's units, as long as they are accepted.
    ///
    /// - Returns: Whether they were, and fill the sample.
    // Bounded throughout: places in the sample; a length is compared with what is left before it is added.
    private func walk(_ sample: RawSpan, _ accepts: (RawSpan) -> Bool) -> Bool {
        var offset = 0
        while sample.byteCount - offset > lengthBytes {
            var length = 0
            for place in offset..<offset + lengthBytes {
                length = length << 8 | Int(clamping: sample.byte(place))
            }
            offset += lengthBytes
            // Some writers fill the sample up with zeros.
            if length == 0 { return offset > lengthBytes && Self.isZero(sample, from: offset) }
            guard length <= sample.byteCount - offset, accepts(sample.extracting(offset..<offset + length)) else {
                return false
            }
            offset += length
        }
        return offset > 0 && Self.isZero(sample, from: offset)
    }

    private static func isZero(_ bytes: RawSpan, from start: Int) -> Bool {
        (start..<bytes.byteCount).allSatisfy { bytes.byte($0) == 0 }
    }

    // MARK: One unit

    private func isPlausible(_ unit: RawSpan) -> Bool {
        // The first bit is forbidden.
        guard unit.byte(0) & 0x80 == 0 else { return false }
        switch codec {
        case .h264:
            let type = unit.byte(0) & 0x1F
            guard (1...5).contains(type) else { return true }
            // The second and third partition of a slice begin otherwise.
            let isWhole = type == 3 || type == 4 || isAVCSlice(SliceBits(unit, from: 1), isIDR: type == 5)
            return isWhole && !Self.hasZeroRun(unit)
        case .hevc:
            guard unit.byteCount >= 2, unit.byte(1) & 7 != 0 else { return false }
            let type = unit.byte(0) >> 1
            guard type < 32 else { return true }
            return isHEVCSlice(SliceBits(unit, from: 2), isRandomAccess: (16...23).contains(type))
                && !Self.hasZeroRun(unit)
        }
    }

    /// Which macroblock comes first, the kind of the slice, its parameter set.
    private func isAVCSlice(_ bits: SliceBits, isIDR: Bool) -> Bool {
        var bits = bits
        guard let first = bits.exponential(), first <= Self.macroblocksMax, let kind = bits.exponential(), kind <= 9,
            let set = bits.exponential(), set <= 255
        else { return false }
        // An IDR picture has I and SI slices.
        return !isIDR || [2, 4].contains(kind % 5)
    }

    private func isHEVCSlice(_ bits: SliceBits, isRandomAccess: Bool) -> Bool {
        var bits = bits
        // first_slice_segment_in_pic_flag, no_output_of_prior_pics_flag
        bits.skip(isRandomAccess ? 2 : 1)
        return bits.exponential().map { $0 <= 63 } ?? false
    }

    /// A picture of level 6.2.
    private static let macroblocksMax: UInt64 = 139_264

    /// Whether a run of zeros, such as a page that was never written, stands in the middle of a unit, where three zeros
    /// in a row are forbidden. One word in `zeroRunStride` bytes is looked at.
    // Bounded throughout: places in the unit.
    private static func hasZeroRun(_ unit: RawSpan) -> Bool {
        for place in stride(from: 0, to: unit.byteCount - 8, by: zeroRunStride)
        where unsafe unit.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self) == 0 {
            // Behind the last slice some encoders write zeros.
            return !isZero(unit, from: place)
        }
        return false
    }

    private static let zeroRunStride = 256
}

/// The first 64 bits of a slice's header.
private struct SliceBits {
    private var bits: UInt64 = 0
    private var left = 0

    // Bounded throughout: places in the unit, and 64 bits at most.
    init(_ unit: RawSpan, from start: Int) {
        for place in start..<max(start, min(start + 8, unit.byteCount)) {
            bits = bits << 8 | UInt64(unit.byte(place))
            left += 8
        }
        if left > 0 { bits <<= UInt64(64 - left) }
    }

    // Bounded throughout: counts of 64 bits.
    mutating func skip(_ count: Int) {
        bits = count < 64 ? bits << UInt64(count) : 0
        left = max(0, left - count)
    }

    /// An unsigned Exp-Golomb number (H.264, 9.1); nil when it does not end in time.
    // Bounded throughout: counts of 64 bits, and a number of 31 at most.
    mutating func exponential() -> UInt64? {
        let zeros = bits.leadingZeroBitCount
        guard zeros < 32, left > 2 * zeros else { return nil }
        skip(zeros)
        let number = bits >> UInt64(63 - zeros)
        skip(zeros + 1)
        return number - 1
    }
}
