import AttachPrepModel
import Foundation
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

/// Removing metadata from an attachable still changes nothing that is visible.
struct MetadataStripperTests {
    private static func rendered(
        _ file: String, _ format: MediaFormat, bytesMax: Int = 10_000_000, longSideMax: Int? = nil
    ) throws -> RenderedStill {
        var request = RenderRequest(format: format, frameSelection: .still)
        request.attachment = .still(StillRendition(bytesMax: bytesMax, longSideMax: longSideMax))
        return try RenderedStill(file, request)
    }

    private static func bytes(_ file: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: file)))
    }

    /// A segment of a JPEG.
    private static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 255)] + body
    }

    /// A big-endian EXIF block of one directory with short values.
    private static func exif(_ tags: [(Int, UInt8)]) -> [UInt8] {
        let entries = tags.flatMap { tag, value -> [UInt8] in
            [UInt8(tag >> 8), UInt8(tag & 255), 0, 3, 0, 0, 0, 1, 0, value, 0, 0]
        }
        return Array("Exif\0\0MM".utf8) + [0, 42, 0, 0, 0, 8, 0, UInt8(tags.count)] + entries + [0, 0, 0, 0]
    }

    /// A JPEG with a JFIF header and no metadata.
    private static func plain() throws -> [UInt8] {
        try bytes(StillFixture.converted("plain.jpg", ["-strip", "-quality", "85"]))
    }

    /// A JPEG with segments after its SOI and bytes after its EOI.
    private static func jpeg(_ segments: [[UInt8]], tail: [UInt8] = []) throws -> String {
        let plain = try plain()
        let complete = plain[..<2] + segments.joined() + plain[2...] + tail
        return try GeneratedMedia.file("metadata.jpg", bytes: complete).path
    }

    private static func inspect(_ file: String, _ format: MediaFormat) throws -> InspectedMedia {
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        let answer = try MediaProcessor().perform(
            .inspect(InspectRequest(format: format, decodesStills: false)), descriptors: [descriptor],
            deadline: .now + .seconds(60))
        guard case .inspected(let media, _) = answer else {
            throw GeneratedMedia.FixtureError(description: "\(answer)")
        }
        return media
    }

    private static let secrets: [[UInt8]] = [
        segment(0xE1, exif([(0x010F, 1)])), segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0<x/>".utf8)),
        segment(0xED, Array("Photoshop 3.0\0secret".utf8)), segment(0xFE, Array("secret".utf8)),
        segment(0xE2, Array("MPF\0secret".utf8)),
    ]

    @Test func `EXIF, XMP, IPTC, comments and trailing images are removed from a JPEG without re-encoding`() throws {
        let plain = try Self.plain()
        let profile = Self.segment(0xE2, Array("ICC_PROFILE\0\u{1}\u{1}profile".utf8))
        let file = try Self.jpeg(Self.secrets + [profile], tail: plain)
        let still = try Self.rendered(file, .jpeg)
        #expect(try still.bytes(.attachment) == Array(plain[..<2] + profile + plain[2...]))
        #expect(still.media.reductions.isEmpty)
        #expect(still.media.attachment?.width == 800 && still.media.attachment?.type == .jpeg)
    }

    @Test func `A JPEG that exceeds its limit only by its metadata is not re-encoded`() throws {
        let plain = try Self.plain()
        let large = Array(repeating: Self.segment(0xFE, Array(repeating: 65, count: 60_000)), count: 5)
        let still = try Self.rendered(Self.jpeg(large), .jpeg, bytesMax: plain.count)
        #expect(try still.bytes(.attachment) == plain)
    }

    @Test func `A JPEG without a JFIF header gets one`() throws {
        let plain = try Self.plain()
        let length = 2 + Int(plain[4]) << 8 + Int(plain[5])
        let file = try GeneratedMedia.file("bare.jpg", bytes: plain[..<2] + Self.secrets[0] + plain[(2 + length)...])
        let bytes = try Self.rendered(file.path, .jpeg).bytes(.attachment)
        #expect(bytes.starts(with: [0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10, 0x4A, 0x46, 0x49, 0x46]))
    }

    @Test func `A rotated JPEG is written upright`() throws {
        let still = try Self.rendered(StillFixture.sample("orientation-6.jpg"), .jpeg)
        #expect(SampleMotif.cells(in: try still.image(.attachment)) == Array(1...12))
        #expect(try still.bytes(.attachment).count > 0)
    }

    @Test func `A truncated JPEG is rejected as corrupt`() throws {
        let file = try GeneratedMedia.cut(URL(fileURLWithPath: Self.jpeg(Self.secrets)), percent: 80)
        let error = #expect(throws: AttachPrepError.self) { try Self.rendered(file.path, .jpeg) }
        #expect(error?.code == .mediaCorrupt)
    }

    @Test func `Text, EXIF and time are removed from a PNG`() throws {
        let file = try StillFixture.converted(
            "metadata.png",
            ["-set", "comment", "secret", "-set", "Author", "secret", "-units", "PixelsPerInch", "-density", "72"])
        let still = try Self.rendered(file, .png)
        let bytes = try still.bytes(.attachment)
        #expect(try Self.inspect(file, .png).hasMetadata)
        #expect(bytes.firstRange(of: Array("secret".utf8)) == nil && bytes.firstRange(of: Array("tIME".utf8)) == nil)
        #expect(bytes.firstRange(of: Array("pHYs".utf8)) != nil)
        #expect(try still.image(.attachment).bytes == TestImage(decoding: file).bytes)
    }

    @Test func `A re-encoded JPEG has no metadata`() throws {
        let file = try Self.jpeg(Self.secrets)
        let bytes = try Self.rendered(file, .jpeg, longSideMax: 400).bytes(.attachment)
        for text in ["Exif", "secret", "adobe.com"] { #expect(bytes.firstRange(of: Array(text.utf8)) == nil) }
    }

    @Test func `Inspection distinguishes metadata from orientation and resolution`() throws {
        #expect(try !Self.inspect(StillFixture.sample("grid.jpg"), .jpeg).hasMetadata)
        #expect(
            try !Self.inspect(Self.jpeg([Self.segment(0xE1, Self.exif([(0x0112, 1), (0x0128, 2)]))]), .jpeg).hasMetadata
        )
        for secret in Self.secrets { #expect(try Self.inspect(Self.jpeg([secret]), .jpeg).hasMetadata) }
        #expect(try Self.inspect(Self.jpeg([], tail: [1, 2, 3]), .jpeg).hasMetadata)
        #expect(try !Self.inspect(StillFixture.converted("bare.png", ["-strip"]), .png).hasMetadata)
        #expect(try !Self.inspect(StillFixture.sample("grid.heic"), .heic).hasMetadata)
        let gif = try StillFixture.converted("metadata.gif", ["-set", "comment", "secret"])
        #expect(try Self.inspect(gif, .gif).hasMetadata)
        #expect(try !Self.inspect(StillFixture.sample("counter.gif"), .gif).hasMetadata)
    }
}
