import RichPush
import SafeArithmetic

/// The chunks of a PNG, walked to its end: size, animation, and that the file is whole.
///
/// Source: W3C, "Portable Network Graphics, Third Edition", 5 and 11.
package struct PNGChunkWalk: Sendable, Hashable {
    package private(set) var width = 0
    package private(set) var height = 0
    /// Bits a component.
    package private(set) var bitDepth = 0
    /// 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGB with alpha.
    package private(set) var colourType = 0
    /// Delay of each frame of an animation in milliseconds; empty for a still.
    package private(set) var delaysMilliseconds: [Int] = []
    /// How often an animation plays; 0 is for ever.
    package private(set) var loopCount = 1
    /// Whether the animation leaves out the picture that a viewer of stills shows.
    package private(set) var hasSeparateStill = false

    private var isDeclaredAnimated = false
    private var hasData = false
    private var chunks = 0
    private var packedTextBytes = 0

    /// Whether it moves: one that declares an animation of a single frame does not.
    package var isAnimated: Bool { isDeclaredAnimated && delaysMilliseconds.count > 1 }

    /// Pictures of the file.
    package var frames: Int { isAnimated ? delaysMilliseconds.count : 1 }

    /// Seconds of one play; a delay of up to 10 ms is taken for 100 ms, as browsers do.
    package var duration: Double {
        delaysMilliseconds.reduce(0.0) { $0 + Double($1 <= 10 ? 100 : $1) / 1000 }
    }

    // Bounded throughout: offsets lie in the file, and lengths have four bytes and end in it before they are added.

    /// Walks the file up to `IEND`; what follows it is nobody's. Checksums are left to the decoder.
    ///
    /// - Throws: `media.corrupt` when a chunk reaches past the end of the file or the end is missing,
    ///   `media.too_many_frames`.
    package static func walk(_ window: ByteWindow) throws -> PNGChunkWalk {
        guard try window.bytes(at: 0, count: 8).elementsEqual([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else {
            throw window.broken("no PNG signature")
        }
        var walk = PNGChunkWalk()
        var offset = 8
        while true {
            let length = try window.bigEndian(at: offset, bytes: 4)
            let type = try window.characters(at: offset + 4, count: 4)
            if length > window.size - offset - 12 { throw window.cut }
            if type == "IEND" { break }
            try walk.read(type, at: offset + 8, length: length, of: window)
            offset += 12 + length
        }
        if walk.width == 0 || walk.height == 0 || !walk.hasData { throw window.broken("no picture") }
        return walk
    }

    private mutating func read(_ type: String, at offset: Int, length: Int, of window: ByteWindow) throws {
        chunks += 1
        if chunks > Limits.pngChunksMax { throw window.broken("more than \(Limits.pngChunksMax) chunks") }
        switch type {
        case "IHDR" where length >= 13:
            width = try window.bigEndian(at: offset, bytes: 4)
            height = try window.bigEndian(at: offset + 4, bytes: 4)
            bitDepth = Int(clamping: try window.byte(at: offset + 8))
            colourType = Int(clamping: try window.byte(at: offset + 9))
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
                throw window.broken("more than \(Limits.pngPackedTextBytesMax) bytes of packed text")
            }
        case "IDAT":
            if !hasData { hasSeparateStill = isDeclaredAnimated && delaysMilliseconds.isEmpty }
            hasData = true
        default:
            if chunks == 1 { throw window.broken("no header first") }
        }
    }

    /// Whether international text is packed: a flag behind its keyword, which has up to 79 bytes and ends with a zero.
    private static func isPacked(textAt offset: Int, length: Int, of window: ByteWindow) throws -> Bool {
        let head = try window.bytes(at: offset, count: min(length, 82))
        guard let end = head.firstIndex(of: 0), end + 1 < head.endIndex else { return true }
        return head[end + 1] != 0
    }

    /// A fraction of a second; a denominator of 0 stands for hundredths.
    private static func delay(at offset: Int, of window: ByteWindow) throws -> Int {
        let numerator = try window.bigEndian(at: offset, bytes: 2)
        let denominator = try window.bigEndian(at: offset + 2, bytes: 2)
        return Int(clamping: (Double(numerator) * 1000 / Double(denominator == 0 ? 100 : denominator)).rounded())
    }
}
