import FuzzSupport
import RichPush
import WalkSupport

@testable import MediaProcessing

/// The walks over stills, and the copies without metadata that are made by them.
@main enum PictureWalkFuzz {
    static func main() {
        let file = WalkedFile(noun: "picture")
        let source = MemoryFile()
        let output = MemoryFile()
        FuzzTarget.run { input in
            var input = input
            switch input.byte() % 8 {
            case 0: try file.check(input.rest()) { try done(TIFFWalk.walk($0)) }
            case 1: try file.check(input.rest(), jpeg)
            case 2: _ = ExifTags.tellMore(input.rest())
            case 3: try file.check(input.rest(), bmp)
            case 4: try file.check(input.rest()) { try JPEGSegments.walkHeader($0) }
            case 5: try file.check(input.rest(), png)
            case 6: strip(.jpeg, input.rest(), source, output)
            default: strip(.png, input.rest(), source, output)
            }
        }
    }

    private static func done(_ walk: ()) -> AnyHashable { true }

    private static func jpeg(_ window: ByteWindow) throws -> AnyHashable {
        let segments = try JPEGSegments.walk(window)
        checkOrder(segments.needed, in: window)
        return segments
    }

    private static func png(_ window: ByteWindow) throws -> AnyHashable {
        let parts = try PNGParts.walk(window)
        checkOrder(parts.needed, in: window)
        return parts
    }

    private static func bmp(_ window: ByteWindow) throws -> AnyHashable {
        let header = try BMPHeader.read(window)
        try header.checkPixels(window)
        Invariant.hold(header.width > 0 && header.height > 0, "a picture has sides")
        Invariant.hold(header.width * header.height <= Limits.picturePixelsMax, "and not too many pixels")
        return header
    }

    private static func checkOrder(_ parts: [Range<Int>], in window: ByteWindow) {
        var end = 0
        for part in parts {
            Invariant.hold(part.lowerBound >= end && !part.isEmpty, "parts are in order, none of them twice")
            end = part.upperBound
        }
        Invariant.hold(end <= window.size, "parts lie inside the file")
    }

    /// A copy is as long as it says, and a copy of it is the same.
    private static func strip(_ format: MediaFormat, _ bytes: [UInt8], _ source: MemoryFile, _ output: MemoryFile) {
        guard let first = stripped(format, bytes, source, output) else { return }
        Invariant.hold(first.count <= bytes.count + JPEGInterchange.segment.count, "a copy without is not longer")
        guard let second = stripped(format, first, source, output) else {
            return Invariant.hold(false, "a copy reads back")
        }
        Invariant.hold(first == second, "nothing is left to leave out")
    }

    private static func stripped(
        _ format: MediaFormat, _ bytes: [UInt8], _ source: MemoryFile, _ output: MemoryFile
    ) -> [UInt8]? {
        source.replace(with: [(0, bytes)])
        output.replace(with: [])
        var copy: [UInt8]?
        _ = WalkedFile.verdict {
            guard let strip = try MetadataStrip(format, source: source.descriptor, deadline: .now + .seconds(60)) else {
                return false
            }
            try strip.write(to: OutputFile(descriptor: output.descriptor))
            let written = output.bytes
            Invariant.hold(written.count == strip.bytes, "\(written.count) written, \(strip.bytes) said")
            copy = written
            return true
        }
        return copy
    }
}
