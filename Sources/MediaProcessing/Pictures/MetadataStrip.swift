import MediaEngine
import RichPush
import SafeArithmetic
import Vips

/// A JPEG or PNG freed of its metadata, without touching a pixel.
struct MetadataStrip {
    /// Copied at a time.
    private static let pieceBytes = 65_536

    private let window: ByteWindow
    private let needed: [Range<Int>]
    /// What is put behind a JPEG's SOI.
    private let lead: [UInt8]

    /// Bytes of the result.
    let bytes: Int

    /// Nil where the file's pixels do not stand as they are shown, or the format knows no such cut.
    init?(_ format: MediaFormat, source: CInt, deadline: ContinuousClock.Instant) throws {
        window = try ByteWindow(descriptor: source, noun: "picture", deadline: deadline)
        switch format {
        case .jpeg:
            // What cannot be walked may still decode; then it is written anew.
            guard let segments = try? JPEGSegments.walk(window), segments.components != 4 else { return nil }
            needed = segments.needed
            lead = segments.hasJFIF || segments.hasAdobe ? [] : JPEGInterchange.segment
        case .png:
            (needed, lead) = (try PNGParts.walk(window).needed, [])
        default: return nil
        }
        bytes = needed.reduce(lead.count) { $0.adding(clamping: $1.count) }
    }

    /// Writes the result.
    func write(to output: OutputFile) throws {
        // Bounded throughout: ranges lie in the file, one behind the other.
        var place = 0
        for (index, range) in needed.enumerated() {
            var offset = range.lowerBound
            while offset < range.upperBound {
                var count = min(Self.pieceBytes, range.upperBound - offset)
                // JFIF's segment stands right behind SOI.
                if index == 0, offset == 0, !lead.isEmpty { count = min(count, 2) }
                try output.write(Array(window.whole(at: offset, count: count)), at: place)
                place += count
                if index == 0, offset == 0, !lead.isEmpty {
                    try output.write(lead, at: place)
                    place += lead.count
                }
                offset += count
            }
        }
    }
}
