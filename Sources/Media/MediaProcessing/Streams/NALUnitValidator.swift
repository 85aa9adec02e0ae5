import MediaLibraries
import SafeArithmetic

/// Checks the NAL units of an H.264 or HEVC sample in an MP4 without decoding them.
///
/// Detects a sample that is truncated, overwritten across the border of two units, exchanged with another part of the
/// file or never written: its length prefixes do not match. Noise inside one unit is not detected.
/// Source: ISO/IEC 14496-15, 5.3.3 and 8.3.3 (length prefixes); ITU-T H.264, 7.3.1, 7.3.3 and 7.4.1 (headers, no long
/// runs of zeros); ITU-T H.265, 7.3.1.2 and 7.3.6.
struct NALUnitValidator {
    enum Codec { case h264, hevc }

    let codec: Codec
    /// Bytes of the length prefix of each unit.
    private let lengthBytes: Int

    /// Nil for streams without length-prefixed units.
    init?(_ stream: StreamDescription, isISOBaseMedia: Bool) {
        guard isISOBaseMedia else { return nil }
        self.init(codec: stream.codec, configuration: stream.configuration)
    }

    /// - Parameter configuration: The contents of the `avcC` or `hvcC` box.
    init?(codec: String, configuration: [UInt8]) {
        // Both boxes begin with version 1; Annex B configurations begin with a start code and have no lengths.
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

    /// Whether a sample consists of complete, plausible units.
    func isIntact(_ packet: Packet) -> Bool {
        packet.withBytes { sample in parse(sample) { isPlausible($0) } }
    }

    /// Whether a sample is an IDR picture: neither it nor the following frames refer to earlier ones.
    func containsIDR(_ packet: Packet) -> Bool {
        var isIDR = false
        packet.withBytes { sample in
            _ = parse(sample) { unit in
                switch codec {
                case .h264: isIDR = isIDR || unit.byte(0) & 0x1F == 5
                case .hevc: isIDR = isIDR || (19...20).contains(unit.byte(0) >> 1)
                }
                return true
            }
        }
        return isIDR
    }

    /// Passes a sample's units to `accepts` until it returns false.
    ///
    /// - Returns: Whether all units were accepted and fill the sample.
    // Bounded throughout: offsets in the sample; a length is compared with what is left before it is added.
    func parse(_ sample: RawSpan, _ accepts: (RawSpan) -> Bool) -> Bool {
        var offset = 0
        while sample.byteCount - offset > lengthBytes {
            var length = 0
            for position in offset..<offset + lengthBytes {
                length = length << 8 | Int(clamping: sample.byte(position))
            }
            offset += lengthBytes
            // Some writers pad the sample with zeros.
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
        // forbidden_zero_bit
        guard unit.byte(0) & 0x80 == 0 else { return false }
        switch codec {
        case .h264:
            let type = unit.byte(0) & 0x1F
            guard (1...5).contains(type) else { return true }
            // Slice data partitions B and C have other headers.
            let isWhole = type == 3 || type == 4 || isAVCSlice(NALBitReader(unit, from: 1), isIDR: type == 5)
            return isWhole && !Self.hasZeroRun(unit)
        case .hevc:
            guard unit.byteCount >= 2, unit.byte(1) & 7 != 0 else { return false }
            let type = unit.byte(0) >> 1
            guard type < 32 else { return true }
            return isHEVCSlice(NALBitReader(unit, from: 2), isRandomAccess: (16...23).contains(type))
                && !Self.hasZeroRun(unit)
        }
    }

    /// Checks first_mb_in_slice, slice_type and pic_parameter_set_id.
    private func isAVCSlice(_ bits: NALBitReader, isIDR: Bool) -> Bool {
        var bits = bits
        guard let first = bits.exponential(), first <= Self.macroblocksMax, let kind = bits.exponential(), kind <= 9,
            let set = bits.exponential(), set <= 255
        else { return false }
        // An IDR picture has only I and SI slices.
        return !isIDR || [2, 4].contains(kind % 5)
    }

    private func isHEVCSlice(_ bits: NALBitReader, isRandomAccess: Bool) -> Bool {
        var bits = bits
        // first_slice_segment_in_pic_flag, no_output_of_prior_pics_flag
        bits.skip(isRandomAccess ? 2 : 1)
        return bits.exponential().map { $0 <= 63 } ?? false
    }

    /// Maximum macroblocks of a picture, level 6.2.
    private static let macroblocksMax: UInt64 = 139_264

    /// Whether a run of zeros, such as an unwritten page, lies inside a unit, where three zero bytes in a row are
    /// forbidden. One 8-byte word in every `zeroRunStride` bytes is checked.
    // Bounded throughout: offsets in the unit.
    private static func hasZeroRun(_ unit: RawSpan) -> Bool {
        for position in stride(from: 0, to: unit.byteCount - 8, by: zeroRunStride)
        where unsafe unit.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self) == 0 {
            // Some encoders write zeros after the last slice.
            return !isZero(unit, from: position)
        }
        return false
    }

    private static let zeroRunStride = 256
}

/// Reads 64 bits of a slice header or a parameter set.
struct NALBitReader {
    private var bits: UInt64 = 0
    private var left = 0

    // Bounded throughout: offsets in the unit, and 64 bits at most.
    init(_ unit: RawSpan, from start: Int) {
        for position in start..<max(start, min(start + 8, unit.byteCount)) {
            bits = bits << 8 | UInt64(unit.byte(position))
            left += 8
        }
        if left > 0 { bits <<= UInt64(64 - left) }
    }

    // Bounded throughout: counts of 64 bits.
    mutating func skip(_ count: Int) {
        bits = count < 64 ? bits << UInt64(count) : 0
        left = max(0, left - count)
    }

    /// Reads an unsigned Exp-Golomb number (H.264, 9.1); nil if it does not end within the bits left.
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
