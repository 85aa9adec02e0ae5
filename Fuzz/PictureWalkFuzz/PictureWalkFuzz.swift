import FuzzSupport
import JPEG
import PNG
import RichPush
import WalkSupport
import WebP

@testable import MediaProcessing

/// The walks over stills, the copies without metadata that are made by them, and the decoders that are ours.
@main enum PictureWalkFuzz {
    static func main() {
        let file = WalkedFile(noun: "picture")
        let source = MemoryFile()
        let output = MemoryFile()
        FuzzTarget.run { input in
            var input = input
            switch input.byte() % 12 {
            case 0: try file.check(input.rest()) { try done(TIFFWalk.walk($0)) }
            case 1: try file.check(input.rest(), jpeg)
            case 2: _ = ExifTags.tellMore(input.rest())
            case 3: try file.check(input.rest(), bmp)
            case 4: try file.check(input.rest()) { try JPEGSegments.walkHeader($0) }
            case 5: try file.check(input.rest(), png)
            case 6: strip(.jpeg, input.rest(), source, output)
            case 7: strip(.png, input.rest(), source, output)
            case 8: try file.check(input.rest(), heif)
            case 9: baseline(input.rest(), source)
            case 10: rows(input.rest(), source)
            default: try file.check(input.rest(), webP)
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

    private static func heif(_ window: ByteWindow) throws -> AnyHashable {
        guard let heif = try PlainHEIF(window) else { return false }
        Invariant.hold(heif.tiles.count == heif.grid.columns * heif.grid.rows, "each tile has its place")
        for part in heif.tiles.joined() {
            Invariant.hold(part.lowerBound >= 0 && part.upperBound <= window.size, "parts lie inside the file")
        }
        return heif.grid
    }

    private static func webP(_ window: ByteWindow) throws -> AnyHashable {
        guard let webP = try PlainWebP(window) else { return false }
        Invariant.hold(
            webP.picture.lowerBound >= 12 && webP.picture.upperBound <= window.size, "the picture lies inside the file")
        let (width, height) = (webP.storedWidth, webP.storedHeight)
        guard width > 0, height > 0, width * height <= 1_000_000 else { return true }
        let found = try? WebPDecoder.decode(window.all(in: webP.picture), width: width, height: height) {}
        return found?.luma.count == width * height
    }

    /// Our own decoder of scans, for both of the sizes it knows.
    private static func baseline(_ bytes: [UInt8], _ source: MemoryFile) {
        source.replace(with: [(0, bytes)])
        let window = ByteWindow(bytes: bytes, noun: "JPEG")
        guard let segments = try? JPEGSegments.walkHeader(window), segments.width * segments.height <= 1_000_000 else {
            return
        }
        let eighth = BaselineDecoder.planes(descriptor: source.descriptor, eighths: 1)
        let quarter = BaselineDecoder.planes(descriptor: source.descriptor, eighths: 2)
        Invariant.hold((eighth == nil) == (quarter == nil), "what is whole for one size is whole for the other")
        guard let luma = eighth?.first else { return }
        Invariant.hold(luma.width == (segments.width + 7) / 8, "an eighth is as wide as it should be")
    }

    /// libspng through our reader of bytes.
    private static func rows(_ bytes: [UInt8], _ source: MemoryFile) {
        source.replace(with: [(0, bytes)])
        guard let decoder = try? PNGDecoder(descriptor: source.descriptor), !decoder.isInterlaced,
            decoder.width * decoder.height <= 1_000_000
        else { return }
        var count = 0
        let whole: Void? = try? decoder.decode { row in
            count += 1
            Invariant.hold(row.count == decoder.width * decoder.samples.rawValue, "rows are whole")
        }
        if whole != nil { Invariant.hold(count == decoder.height, "all rows come") }
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
