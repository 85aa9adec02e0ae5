import AttachPrepModel
import MediaTypes
import SafeArithmetic

/// Parses the chunks of a PNG to its end: size, animation, and that the file is complete.
///
/// Source: W3C, "Portable Network Graphics, Third Edition", 5 and 11.
package struct PNGParser: Sendable, Hashable {
    package private(set) var width = 0
    package private(set) var height = 0
    /// Bits a component.
    package private(set) var bitDepth = 0
    /// 0 gray, 2 RGB, 3 palette, 4 gray with alpha, 6 RGB with alpha.
    package private(set) var colorType = 0
    /// Delay of each frame of an animation in milliseconds; empty for a still.
    package private(set) var delaysMilliseconds: [Int] = []
    /// Number of plays of an animation; 0 is infinite.
    package private(set) var loopCount = 1

    private var isDeclaredAnimated = false
    private var hasData = false
    private var chunks = 0
    private var packedTextBytes = 0

    /// Whether it is animated: an animation of a single frame does not count.
    package var isAnimated: Bool { isDeclaredAnimated && delaysMilliseconds.count > 1 }

    /// Number of frames in the file.
    package var frames: Int { isAnimated ? delaysMilliseconds.count : 1 }

    /// Seconds of one play; a delay of up to 10 ms counts as 100 ms, as in browsers.
    package var duration: Double {
        delaysMilliseconds.reduce(0.0) { $0 + Double($1 <= 10 ? 100 : $1) / 1000 }
    }

    // Bounded throughout: offsets lie in the file, and lengths have four bytes and end in it before they are added.

    /// Parses the file up to `IEND`; data after it is ignored. The decoder verifies checksums.
    ///
    /// - Throws: `media.corrupt` when a chunk extends past the end of the file or the end is missing,
    ///   `media.too_many_frames`.
    package static func parse(_ window: ByteWindow) throws -> PNGParser {
        guard try window.bytes(at: 0, count: 8).elementsEqual([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else {
            throw window.broken("no PNG signature")
        }
        var parser = PNGParser()
        var offset = 8
        while true {
            let length = try window.bigEndian(at: offset, bytes: 4)
            let type = try window.characters(at: offset + 4, count: 4)
            if length > window.size - offset - 12 { throw window.cut }
            if type == "IEND" { break }
            try parser.read(type, at: offset + 8, length: length, of: window)
            offset += 12 + length
        }
        if parser.width == 0 || parser.height == 0 || !parser.hasData { throw window.broken("no image data") }
        return parser
    }

    private mutating func read(_ type: String, at offset: Int, length: Int, of window: ByteWindow) throws {
        chunks += 1
        if chunks > Limits.pngChunksMax { throw window.broken("more than \(Limits.pngChunksMax) chunks") }
        switch type {
        case "IHDR" where length >= 13:
            width = try window.bigEndian(at: offset, bytes: 4)
            height = try window.bigEndian(at: offset + 4, bytes: 4)
            bitDepth = Int(clamping: try window.byte(at: offset + 8))
            colorType = Int(clamping: try window.byte(at: offset + 9))
        case "acTL" where length >= 8 && !hasData:
            isDeclaredAnimated = true
            loopCount = try window.bigEndian(at: offset + 4, bytes: 4)
        case "fcTL" where length >= 26 && isDeclaredAnimated:
            if delaysMilliseconds.count == Limits.animationFramesMax { throw tooManyFrames("PNG") }
            delaysMilliseconds.append(try Self.delay(at: offset + 20, of: window))
        case "zTXt", "iTXt":
            if try type == "zTXt" || Self.isPacked(textAt: offset, length: length, of: window) {
                packedTextBytes += length
            }
            if packedTextBytes > Limits.pngPackedTextBytesMax {
                throw window.broken("more than \(Limits.pngPackedTextBytesMax) bytes of compressed text")
            }
        case "IDAT":
            hasData = true
        case "CgBI" where chunks == 1:
            throw AttachPrepError(
                .mediaUnsupported,
                "The PNG is in the form that Xcode writes for apps (CgBI), which is not supported; send the original.")
        default:
            if chunks == 1 { throw window.broken("the first chunk is not IHDR") }
        }
    }

    /// Whether an `iTXt` chunk is compressed: a flag after its keyword, which has up to 79 bytes and ends with a zero.
    private static func isPacked(textAt offset: Int, length: Int, of window: ByteWindow) throws -> Bool {
        let head = try window.bytes(at: offset, count: min(length, 82))
        guard let end = head.firstIndex(of: 0), end + 1 < head.endIndex else { return true }
        return head[end + 1] != 0
    }

    /// A fraction of a second; a denominator of 0 means hundredths.
    private static func delay(at offset: Int, of window: ByteWindow) throws -> Int {
        let numerator = try window.bigEndian(at: offset, bytes: 2)
        let denominator = try window.bigEndian(at: offset + 2, bytes: 2)
        return Int(clamping: (Double(numerator) * 1000 / Double(denominator == 0 ? 100 : denominator)).rounded())
    }
}

extension Limits {
    /// Chunks of a PNG: 100 MB in the usual chunks of 8 KB are 12,500; 100,000 is far above any real file.
    static let pngChunksMax = 100_000
    /// Compressed text of a PNG: it may expand a thousandfold each time the file is opened.
    static let pngPackedTextBytesMax = 250_000
}
