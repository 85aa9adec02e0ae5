import AttachPrepModel
import MediaTypes
import SafeArithmetic

/// What the header of a JPEG XL declares: libvips shows the last frame of an animation and ignores the curves of HDR,
/// so both are rejected.
///
/// Source: ISO/IEC 18181-1, annexes A (fields), D and E (headers); ISO/IEC 18181-2, 9 (boxes).
package struct JPEGXLHeader: Sendable, Hashable {
    /// Pixels as stored, before they are turned.
    package private(set) var width = 0
    package private(set) var height = 0
    /// Bits of a color component.
    package private(set) var bitDepth = 8
    package private(set) var hasAlpha = false
    /// Whether black is a channel of its own, as in CMYK.
    package private(set) var hasBlack = false
    package private(set) var isAnimated = false
    /// Whether the curve is that of PQ or HLG.
    package private(set) var isHDR = false

    /// - Throws: `media.corrupt` when the header is truncated or violates the format.
    package static func parse(_ window: ByteWindow) throws -> JPEGXLHeader {
        var bits = JPEGXLBits(try codestream(window), window)
        guard try bits.number(16) == 0x0AFF else { throw window.broken("no JPEG XL codestream") }
        var header = JPEGXLHeader()
        (header.width, header.height) = try bits.size()
        // The default: 8 bits, sRGB, one frame.
        if try !bits.flag() { try header.readMetadata(&bits) }
        return header
    }

    /// Throws `media.unsupported` for what libvips shows wrongly.
    func requireSupported() throws {
        let reason: String? =
            if isAnimated {
                "animated, which is not supported; send a GIF, or an animated WebP, PNG or AVIF"
            } else if isHDR {
                "in HDR (PQ or HLG), which is not supported in this format; send a JPEG, or an AVIF or HEIC in HDR"
            } else if hasBlack {
                "in CMYK, which is not supported in this format; send one in RGB, or a JPEG"
            } else {
                nil
            }
        if let reason { throw AttachPrepError(.mediaUnsupported, "The JPEG XL image is \(reason).") }
    }

    private mutating func readMetadata(_ bits: inout JPEGXLBits) throws {
        if try bits.flag() {
            _ = try bits.number(3)  // Orientation.
            if try bits.flag() { _ = try bits.size() }  // The intrinsic size.
            if try bits.flag() { try bits.skipPreview() }
            isAnimated = try bits.flag()
            if isAnimated { try bits.skipAnimation() }
        }
        bitDepth = try bits.depth()
        _ = try bits.flag()  // Whether 16 bits are sufficient for the decoder's buffers.
        for _ in 0..<(try bits.choice((0, 0), (0, 1), (4, 2), (12, 1))) { try readChannel(&bits) }
        _ = try bits.flag()  // Whether colors are in XYB.
        // The default: sRGB. An ICC profile follows the header; it is used by libvips.
        if try !bits.flag(), try !bits.flag() { try readColors(&bits) }
    }

    private mutating func readChannel(_ bits: inout JPEGXLBits) throws {
        if try bits.flag() {
            hasAlpha = true
            return
        }
        let type = try bits.enumerator()
        _ = try bits.depth()
        _ = try bits.choice((0, 0), (0, 3), (0, 4), (3, 1))  // Its scale.
        for _ in 0..<(try bits.choice((0, 0), (4, 0), (5, 16), (10, 48))) { _ = try bits.number(8) }  // Its name.
        switch type {
        case 0:
            hasAlpha = true
            _ = try bits.flag()
        case 2: for _ in 0..<4 { _ = try bits.number(16) }  // A spot color.
        case 4: hasBlack = true
        case 5: _ = try bits.choice((0, 1), (2, 0), (4, 3), (8, 19))  // A color filter.
        default: break
        }
    }

    private mutating func readColors(_ bits: inout JPEGXLBits) throws {
        let (xyb, gray, custom) = (2, 1, 2)
        let space = try bits.enumerator()
        if space == xyb { return }
        if try bits.enumerator() == custom { try bits.skipPoints(1) }
        if space != gray, try bits.enumerator() == custom { try bits.skipPoints(3) }
        if try bits.flag() { return }  // A power function.
        let (perceptualQuantizer, hybridLogGamma) = (16, 18)
        isHDR = try [perceptualQuantizer, hybridLogGamma].contains(bits.enumerator())
    }

    /// The beginning of the coded image: of the file, or of its boxes.
    // Bounded throughout: offsets in the window, and lists of a few KB.
    private static func codestream(_ window: ByteWindow) throws -> [UInt8] {
        if try window.bytes(at: 0, count: 2).elementsEqual([0xFF, 0x0A]) {
            return try Array(window.bytes(at: 0, count: Limits.jpegXLHeaderBytesMax))
        }
        var parts: [UInt8] = []
        try ISOBoxSearch.parse(0..<window.size, in: window) { type, content in
            let start = type == "jxlp" ? 4 : 0
            if ["jxlc", "jxlp"].contains(type), content.count > start {
                let count = min(content.count - start, Limits.jpegXLHeaderBytesMax)
                parts += try window.bytes(at: content.lowerBound + start, count: count)
            }
            return parts.count < Limits.jpegXLHeaderBytesMax
        }
        return parts
    }
}

/// Reads the fields of a header bit by bit, from the lowest of each byte.
// Bounded throughout: numbers of at most 32 bits, times 16, and offsets in some KB.
private struct JPEGXLBits {
    private let bytes: [UInt8]
    private let window: ByteWindow
    private var offset = 0

    init(_ bytes: [UInt8], _ window: ByteWindow) { (self.bytes, self.window) = (bytes, window) }

    mutating func number(_ count: Int) throws -> Int {
        guard count <= bytes.count * 8 - offset else { throw window.cut }
        defer { offset += count }
        return (0..<count).reduce(0) { value, bit in
            value | Int(bytes[(offset + bit) / 8] >> ((offset + bit) % 8) & 1) << bit
        }
    }

    mutating func flag() throws -> Bool { try number(1) == 1 }

    /// One of four ranges: a number of some bits, added to a constant.
    mutating func choice(_ ranges: (bits: Int, from: Int)...) throws -> Int {
        let range = ranges[try number(2)]
        return try number(range.bits) + range.from
    }

    mutating func enumerator() throws -> Int { try choice((0, 0), (0, 1), (4, 2), (6, 18)) }

    mutating func size() throws -> (width: Int, height: Int) {
        let isSmall = try flag()
        func side(_ bits: inout JPEGXLBits) throws -> Int {
            try isSmall ? (bits.number(5) + 1) * 8 : bits.choice((9, 1), (13, 1), (18, 1), (30, 1))
        }
        let height = try side(&self)
        let ratios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
        let ratio = try number(3)
        guard ratio > 0 else { return (try side(&self), height) }
        return (height * ratios[ratio - 1].0 / ratios[ratio - 1].1, height)
    }

    mutating func depth() throws -> Int {
        let isFloat = try flag()
        let bits = try isFloat ? choice((0, 32), (0, 16), (0, 24), (6, 1)) : choice((0, 8), (0, 10), (0, 12), (6, 1))
        if isFloat { _ = try number(4) }
        return bits
    }

    mutating func skipPreview() throws {
        let isSmall = try flag()
        func side(_ bits: inout JPEGXLBits) throws {
            _ =
                try isSmall
                ? bits.choice((0, 16), (0, 32), (5, 1), (9, 33)) : bits.choice((6, 1), (8, 65), (10, 321), (12, 1_345))
        }
        try side(&self)
        if try number(3) == 0 { try side(&self) }
    }

    /// Ticks, loops, and whether frames have time codes.
    mutating func skipAnimation() throws {
        _ = try choice((0, 100), (0, 1_000), (10, 1), (30, 1))
        _ = try choice((0, 1), (0, 1_001), (8, 1), (10, 1))
        _ = try choice((0, 0), (3, 0), (16, 0), (32, 0))
        _ = try flag()
    }

    /// Chromaticities of two numbers each.
    mutating func skipPoints(_ count: Int) throws {
        for _ in 0..<(2 * count) { _ = try choice((19, 0), (19, 524_288), (20, 1_048_576), (21, 2_097_152)) }
    }
}

extension Limits {
    /// Bytes of a JPEG XL in which its header must end: one of a photograph has some 20, and an extra channel's name
    /// up to 1,071.
    static let jpegXLHeaderBytesMax = 4_096
}
