import FuzzSupport
import MediaLibraries
import MediaTypes
import ParserSupport

@testable import MediaProcessing

/// Fuzzes the parsers of still images, the copies without metadata, and the project's decoders.
@main enum ImageParserFuzz {
    static func main() {
        let file = ParsedFile(noun: "image")
        let source = MemoryFile()
        let output = MemoryFile()
        FuzzTarget.run { input in
            var input = input
            switch input.byte() % 15 {
            case 0: try file.check(input.rest()) { try TIFFValidator.parse($0) }
            case 1: try file.check(input.rest(), jpeg)
            case 2: _ = ExifTags.containsMetadata(input.rest())
            case 3: try file.check(input.rest(), bmp)
            case 4: try file.check(input.rest()) { try JPEGSegments.parseHeader($0) }
            case 5: try file.check(input.rest(), png)
            case 6: strip(.jpeg, input.rest(), source, output)
            case 7: strip(.png, input.rest(), source, output)
            case 8: try file.check(input.rest(), heif)
            case 9: baseline(input.rest(), source)
            case 10: rows(input.rest(), source)
            case 11: try file.check(input.rest(), webP)
            case 12: try file.check(input.rest()) { try JPEGXLHeader.parse($0) }
            case 13: try file.check(input.rest(), icon)
            default: drawing(input.rest())
            }
        }
    }

    private static func drawing(_ bytes: [UInt8]) {
        _ = SVGContent.hasASCIIMarkup(bytes)
        Invariant.hold(SVGContent.hasRejected(bytes + Array("<text>".utf8)), "text is found behind anything")
    }

    private static func jpeg(_ window: ByteWindow) throws -> AnyHashable {
        let segments = try JPEGSegments.parse(window)
        checkOrder(segments.needed, in: window)
        return segments
    }

    private static func png(_ window: ByteWindow) throws -> AnyHashable {
        let parts = try PNGRetainedChunks.parse(window)
        checkOrder(parts.needed, in: window)
        return parts
    }

    private static func heif(_ window: ByteWindow) throws -> AnyHashable {
        guard let heif = try PlainHEIF(window) else { return false }
        Invariant.hold(heif.tiles.count == heif.grid.columns * heif.grid.rows, "each tile has a grid position")
        for part in heif.tiles.joined() {
            Invariant.hold(part.lowerBound >= 0 && part.upperBound <= window.size, "parts are inside the file")
        }
        return heif.grid
    }

    private static func webP(_ window: ByteWindow) throws -> AnyHashable {
        guard let webP = try PlainWebP(window) else { return false }
        Invariant.hold(
            webP.imageData.lowerBound >= 12 && webP.imageData.upperBound <= window.size, "the image is inside the file")
        let (width, height) = (webP.storedWidth, webP.storedHeight)
        guard width > 0, height > 0, width * height <= 1_000_000 else { return true }
        let found = try? WebPDecoder.decode(window.all(in: webP.imageData), width: width, height: height) {}
        return found?.luma.count == width * height
    }

    private static func icon(_ window: ByteWindow) throws -> AnyHashable {
        let entry = try IconEntry.largest(in: window)
        checkOrder([entry.range], in: window)
        let bitmap = try IconBitmap(window.all(in: entry.range))
        try BMPHeader.read(ByteWindow(bytes: bitmap.file, noun: "BMP"))
            .checkPixels(ByteWindow(bytes: bitmap.file, noun: "BMP"))
        return bitmap.file
    }

    /// The baseline JPEG decoder, at both of its scales.
    private static func baseline(_ bytes: [UInt8], _ source: MemoryFile) {
        source.replace(with: [(0, bytes)])
        let window = ByteWindow(bytes: bytes, noun: "JPEG")
        guard let segments = try? JPEGSegments.parseHeader(window), segments.width * segments.height <= 1_000_000 else {
            return
        }
        let eighth = BaselineDecoder.read(descriptor: source.descriptor, eighths: 1)
        let quarter = BaselineDecoder.read(descriptor: source.descriptor, eighths: 2)
        guard case .planes(let planes) = eighth, case .planes = quarter, let luma = planes.first else {
            if case .planes = quarter { Invariant.hold(false, "both scales agree whether the file is complete") }
            let share = BaselineDecoder.intactShare(descriptor: source.descriptor)
            Invariant.hold((0...1).contains(share), "the intact part is a part")
            return
        }
        Invariant.hold(luma.width == (segments.width + 7) / 8, "the width at 1/8 is correct")
    }

    /// libspng with the project's byte reader.
    private static func rows(_ bytes: [UInt8], _ source: MemoryFile) {
        source.replace(with: [(0, bytes)])
        guard let decoder = try? PNGDecoder(descriptor: source.descriptor), !decoder.isInterlaced,
            decoder.width * decoder.height <= 1_000_000
        else { return }
        var count = 0
        let whole: Void? = try? decoder.decode { row in
            count += 1
            Invariant.hold(row.count == decoder.width * decoder.samples.rawValue, "rows are complete")
        }
        if whole != nil { Invariant.hold(count == decoder.height, "all rows are decoded") }
    }

    private static func bmp(_ window: ByteWindow) throws -> AnyHashable {
        let header = try BMPHeader.read(window)
        try header.checkPixels(window)
        Invariant.hold(header.width > 0 && header.height > 0, "an image is not empty")
        Invariant.hold(header.width * header.height <= Limits.imagePixelsMax, "the number of pixels is limited")
        return header
    }

    private static func checkOrder(_ parts: [Range<Int>], in window: ByteWindow) {
        var end = 0
        for part in parts {
            Invariant.hold(part.lowerBound >= end && !part.isEmpty, "parts are in order and do not overlap")
            end = part.upperBound
        }
        Invariant.hold(end <= window.size, "parts lie inside the file")
    }

    /// Stripping metadata must give the announced length and be idempotent.
    private static func strip(_ format: MediaFormat, _ bytes: [UInt8], _ source: MemoryFile, _ output: MemoryFile) {
        guard let first = stripped(format, bytes, source, output) else { return }
        Invariant.hold(first.count <= bytes.count + JFIFHeader.segment.count, "a copy without metadata is not longer")
        guard let second = stripped(format, first, source, output) else {
            return Invariant.hold(false, "a copy can be parsed")
        }
        Invariant.hold(first == second, "stripping is idempotent")
    }

    private static func stripped(
        _ format: MediaFormat, _ bytes: [UInt8], _ source: MemoryFile, _ output: MemoryFile
    ) -> [UInt8]? {
        source.replace(with: [(0, bytes)])
        output.replace(with: [])
        var copy: [UInt8]?
        _ = ParsedFile.verdict {
            guard let strip = try MetadataStripper(format, source: source.descriptor, deadline: .now + .seconds(60))
            else {
                return false
            }
            try strip.write(to: OutputFile(descriptor: output.descriptor))
            let written = output.bytes
            Invariant.hold(written.count == strip.bytes, "\(written.count) written, \(strip.bytes) announced")
            copy = written
            return true
        }
        return copy
    }
}
