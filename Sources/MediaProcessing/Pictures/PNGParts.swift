import RichPush

/// The chunks of a PNG that change what is seen, and whether there are others.
///
/// Source: W3C, "Portable Network Graphics, Third Edition", 5.6 and 11.
package struct PNGParts: Sendable, Hashable {
    /// What decides about pixels and colours, and how large they are printed.
    private static let wanted: Set<String> = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "sBIT", "bKGD", "pHYs",
    ]
    /// What an animation needs beside it.
    private static let moving: Set<String> = ["acTL", "fcTL", "fdAT"]
    private static let chunksMax = Limits.pngChunksMax + 1

    /// The parts of the file to keep, in order.
    package private(set) var needed: [Range<Int>] = []
    /// Whether it carries text, EXIF, a time or chunks nobody knows.
    package private(set) var hasMetadata = false

    /// - Throws: `media.corrupt` when a chunk reaches past the end of the file.
    package static func walk(_ window: ByteWindow) throws -> PNGParts {
        var parts = PNGParts()
        parts.needed = [0..<8]
        var offset = 8
        for _ in 0..<chunksMax {
            // Bounded throughout: offsets lie in the file, and a length ends in it before it is added.
            let length = try window.bigEndian(at: offset, bytes: 4)
            let type = try window.characters(at: offset + 4, count: 4)
            guard length <= window.size - offset - 12 else { throw window.cut }
            parts.take(type, offset..<(offset + 12 + length))
            offset += 12 + length
            if type == "IEND" {
                // An archive, a page, a program: a PNG that is something else as well.
                if offset < window.size { parts.hasMetadata = true }
                return parts
            }
        }
        throw window.broken("too many chunks")
    }

    private mutating func take(_ type: String, _ range: Range<Int>) {
        guard Self.wanted.contains(type) || Self.moving.contains(type) else {
            hasMetadata = true
            return
        }
        if let last = needed.last, last.upperBound == range.lowerBound {
            needed[needed.count - 1] = last.lowerBound..<range.upperBound
        } else {
            needed.append(range)
        }
    }
}
