import AttachPrepModel
import Glibc
import MediaTypes

/// The segments of a JPEG from SOI to EOI, divided into those needed for display and metadata.
///
/// Source: ITU-T T.81, annex B; Exif 2.32, 4.7; CIPA DC-007 (multi-picture format, after EOI).
package struct JPEGSegments: Sendable, Hashable {
    /// The parts of the file needed for display, in order: tables, frames, scans, JFIF, Adobe segment, color profile.
    package private(set) var needed: [Range<Int>] = []
    /// Whether there is anything else: EXIF with more than orientation and pixel format, XMP, IPTC, comments, more
    /// images after the first.
    package private(set) var hasMetadata = false
    /// Whether it has an Adobe segment, which declares the color transform; a JFIF segment would contradict it.
    package private(set) var hasAdobe = false
    package private(set) var hasJFIF = false
    /// Whether it is progressive: all coefficients are in memory until the last scan.
    package private(set) var isProgressive = false
    /// Components of the frame; 4 is CMYK.
    package private(set) var components = 0
    /// Coefficients of the frame, all components together.
    package private(set) var coefficients = 0
    /// Width in pixels, as stored; 0 before the frame header.
    package private(set) var width = 0
    /// Height in pixels, as stored; 0 before the frame header.
    package private(set) var height = 0
    /// The markers of its frames; a file with more than one is not supported.
    package private(set) var frames: [UInt8] = []
    /// Bits of a sample.
    package private(set) var precision = 0
    /// The facts of its EXIF blocks; nil for one that cannot be read.
    package private(set) var exif: [ExifTags.Facts?] = []
    /// Whether Huffman tables were found before the first scan; frames of Motion JPEG leave them out.
    package private(set) var hasHuffmanTables = false
    /// The segments of its color profile, each with its header.
    package private(set) var profile: [Range<Int>] = []

    /// Maximum number of segments: EXIF, profiles in parts, tables. Real files have a few dozen.
    private static let segmentsMax = 10_000

    private enum Marker {
        static let startOfScan: UInt8 = 0xDA
        static let endOfImage: UInt8 = 0xD9
        static let comment: UInt8 = 0xFE
        static let frames: Set<UInt8> = [
            0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF, jpegLS,
        ]
        static let arithmetic: Set<UInt8> = [0xC9, 0xCA]
        /// Lossless and hierarchical frames, which few decoders know.
        static let undecoded: Set<UInt8> = [0xC3, 0xC5, 0xC6, 0xC7, 0xCB, 0xCD, 0xCE, 0xCF, jpegLS]
        /// ISO/IEC 14495-1.
        static let jpegLS: UInt8 = 0xF7
        static let huffmanTables: UInt8 = 0xC4
        static let progressive: Set<UInt8> = [0xC2, 0xC6, 0xCA, 0xCE]
        static let application: ClosedRange<UInt8> = 0xE0...0xEF
    }

    // Bounded throughout: offsets lie in the file when they are added to, since a byte was read there; lengths and
    // sides have two bytes and factors four bits, so coefficients stay below 2^50. A window has at least the two bytes
    // that a marker takes.

    /// Parses the whole file.
    ///
    /// - Throws: `media.corrupt` when a segment is truncated or EOI is missing.
    package static func parse(_ window: ByteWindow) throws -> JPEGSegments {
        try parse(window, toFirstScan: false)
    }

    /// Parses the segments up to the first scan.
    package static func parseHeader(_ window: ByteWindow) throws -> JPEGSegments {
        try parse(window, toFirstScan: true)
    }

    private static func parse(_ window: ByteWindow, toFirstScan: Bool) throws -> JPEGSegments {
        guard try window.bigEndian(at: 0, bytes: 2) == 0xFFD8 else { throw window.broken("no JPEG signature") }
        var segments = JPEGSegments()
        segments.append(0..<2)
        var offset = 2
        for _ in 0..<segmentsMax {
            guard try window.byte(at: offset) == 0xFF else { throw window.broken("no marker at \(offset)") }
            let marker = try window.byte(at: offset + 1)
            if marker == 0xFF {
                offset += 1
                continue
            }
            if marker == Marker.endOfImage {
                segments.append(offset..<(offset + 2))
                if offset + 2 < window.size { segments.hasMetadata = true }
                return segments
            }
            let length = try window.bigEndian(at: offset + 2, bytes: 2)
            // The length includes its own two bytes.
            guard length >= 2 else { throw window.broken("a segment of length \(length)") }
            let end = offset + 2 + length
            guard end <= window.size else { throw window.cut }
            try segments.record(marker, range: offset..<end, of: window)
            offset = end
            if marker == Marker.startOfScan {
                if toFirstScan { return segments }
                let scanEnd = try Self.endOfScan(from: end, of: window)
                segments.append(end..<scanEnd)
                offset = scanEnd
            }
        }
        throw window.broken("too many segments")
    }

    /// Whether it is coded arithmetically, which libjpeg decodes and browsers do not.
    var isArithmetic: Bool { frames.contains(where: Marker.arithmetic.contains) }

    /// Throws `media.unsupported` for frames without a decoder.
    func requireSupported() throws {
        if frames.contains(where: Marker.undecoded.contains) {
            throw AttachPrepError(
                .mediaUnsupported, "The image is a lossless or hierarchical JPEG, which is not supported; send a PNG.")
        }
        // A height of 0 announces a DNL segment (T.81, B.2.5), which libjpeg and browsers do not read.
        if height == 0, width > 0 {
            throw AttachPrepError(
                .mediaUnsupported,
                "The JPEG gives its height after its data (DNL), which is not supported; send one with its height.")
        }
    }

    private mutating func append(_ range: Range<Int>) {
        if let last = needed.last, last.upperBound == range.lowerBound {
            needed[needed.count - 1] = last.lowerBound..<range.upperBound
        } else {
            needed.append(range)
        }
    }

    private mutating func record(_ marker: UInt8, range: Range<Int>, of window: ByteWindow) throws {
        if marker == Marker.huffmanTables { hasHuffmanTables = true }
        if Marker.frames.contains(marker) { try readFrame(marker, at: range.lowerBound, of: window) }
        if marker == Marker.comment || Marker.application.contains(marker) {
            guard try isNeeded(marker, range: range, of: window) else { return }
        }
        append(range)
    }

    private mutating func readFrame(_ marker: UInt8, at offset: Int, of window: ByteWindow) throws {
        isProgressive = Marker.progressive.contains(marker)
        frames.append(marker)
        precision = Int(try window.byte(at: offset + 4))
        height = try window.bigEndian(at: offset + 5, bytes: 2)
        width = try window.bigEndian(at: offset + 7, bytes: 2)
        components = Int(try window.byte(at: offset + 9))
        var factors: [(horizontal: Int, vertical: Int)] = []
        for index in 0..<components {
            let factor = Int(try window.byte(at: offset + 11 + index * 3))
            factors.append((max(1, factor >> 4), max(1, factor & 15)))
        }
        let horizontal = factors.map(\.horizontal).max() ?? 1
        let vertical = factors.map(\.vertical).max() ?? 1
        coefficients = factors.reduce(0) { $0 + width * height * $1.horizontal * $1.vertical / (horizontal * vertical) }
    }

    /// Whether an application segment affects display; the others count as metadata.
    private mutating func isNeeded(_ marker: UInt8, range: Range<Int>, of window: ByteWindow) throws -> Bool {
        let name = try window.characters(at: range.lowerBound + 4, count: min(14, range.count - 4))
        switch marker {
        case 0xE0 where name.hasPrefix("JFIF\0"):
            hasJFIF = true
            return true
        case 0xE2 where name.hasPrefix("ICC_PROFILE\0"):
            profile.append(range)
            return true
        case 0xEE where name.hasPrefix("Adobe"):
            hasAdobe = true
            return true
        case 0xE1 where name.hasPrefix("Exif\0"):
            let body = try window.whole(at: range.lowerBound + 10, count: max(0, min(range.count - 10, 65_000)))
            let block = Array(body)
            exif.append(ExifTags.facts(block))
            if ExifTags.containsMetadata(block) { hasMetadata = true }
            return false
        default:
            hasMetadata = true
            return false
        }
    }

    /// The next marker other than restart markers and stuffed bytes.
    private static func endOfScan(from start: Int, of window: ByteWindow) throws -> Int {
        var offset = start
        while true {
            let part = try window.bytes(at: offset, count: Limits.parseWindowBytes)
            guard part.count >= 2 else { throw window.cut }
            if let mark = unsafe part.withUnsafeBytes({ unsafe marker(in: $0) }) { return offset + mark }
            offset += part.count - 1
        }
    }

    /// The offset of the marker that ends a scan. Uses `memchr`, since scans make up most of the file.
    private static func marker(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var index = 0
        while let found = unsafe memchr(base + index, 0xFF, bytes.count - 1 - index) {
            let mark = unsafe found - UnsafeMutableRawPointer(mutating: base)
            let next = unsafe bytes[mark + 1]
            if next != 0, next != 0xFF, !(0xD0...0xD7).contains(next) { return mark }
            index = mark + 1
        }
        return nil
    }
}
