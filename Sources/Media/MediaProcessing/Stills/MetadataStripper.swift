import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Removes the metadata of a JPEG or PNG without changing its pixels.
struct MetadataStripper {
    /// Bytes copied at a time.
    private static let pieceBytes = 65_536

    private let window: ByteWindow
    private let retained: RetainedBytes

    /// Bytes of the result.
    let bytes: Int

    /// Nil where pixels are not stored as displayed, or the format is not supported.
    init?(_ format: MediaFormat, source: CInt, deadline: ContinuousClock.Instant) throws {
        window = try ByteWindow(descriptor: source, noun: "image", deadline: deadline)
        guard let retained = try format.imageFormat?.retained(in: window) else { return nil }
        self.retained = retained
        bytes = retained.ranges.reduce(retained.lead.count) { $0.adding(clamping: $1.count) }
    }

    /// Writes the result.
    func write(to output: OutputFile) throws {
        var outputOffset = 0
        let lead = retained.lead
        for (index, range) in retained.ranges.enumerated() {
            var offset = range.lowerBound
            while offset < range.upperBound {
                var count = min(Self.pieceBytes, range.upperBound - offset)
                // The JFIF segment must follow SOI directly.
                if index == 0, offset == 0, !lead.isEmpty { count = min(count, 2) }
                try output.write(Array(window.whole(at: offset, count: count)), at: outputOffset)
                outputOffset += count
                if index == 0, offset == 0, !lead.isEmpty {
                    try output.write(lead, at: outputOffset)
                    outputOffset += lead.count
                }
                offset += count
            }
        }
    }
}

/// What remains of a file without its metadata.
struct RetainedBytes {
    let ranges: [Range<Int>]
    /// Bytes inserted after a JPEG's SOI.
    let lead: [UInt8]
}

/// The chunks of a PNG that affect display, and whether there are others.
///
/// Source: W3C, "Portable Network Graphics, Third Edition", 5.6 and 11.
package struct PNGRetainedChunks: Sendable, Hashable {
    /// Chunks for pixels, colors and physical size.
    private static let wanted: Set<String> = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "sBIT", "bKGD", "pHYs",
    ]
    /// Chunks of an animation.
    private static let moving: Set<String> = ["acTL", "fcTL", "fdAT"]
    private static let chunksMax = Limits.pngChunksMax + 1

    /// The parts of the file to keep, in order.
    package private(set) var needed: [Range<Int>] = []
    /// Whether it contains text, EXIF, a time or unknown chunks.
    package private(set) var hasMetadata = false

    /// - Throws: `media.corrupt` when a chunk extends past the end of the file.
    package static func parse(_ window: ByteWindow) throws -> PNGRetainedChunks {
        var parts = PNGRetainedChunks()
        parts.needed = [0..<8]
        var offset = 8
        for _ in 0..<chunksMax {
            let length = try window.bigEndian(at: offset, bytes: 4)
            let type = try window.characters(at: offset + 4, count: 4)
            guard length <= window.size - offset - 12 else { throw window.cut }
            parts.record(type, range: offset..<(offset + 12 + length))
            offset += 12 + length
            if type == "IEND" {
                // Data after IEND, such as an archive, a page or a program: the file is also something else.
                if offset < window.size { parts.hasMetadata = true }
                return parts
            }
        }
        throw window.broken("too many chunks")
    }

    private mutating func record(_ type: String, range: Range<Int>) {
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
