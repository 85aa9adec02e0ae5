import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

/// Images with too many pixels are rejected by their header, and the memory of large ones is bounded.
struct ImageLimitsTests {
    private static func inspect(
        _ file: String, _ format: MediaFormat, decodes: Bool = false
    ) throws -> InspectedMedia {
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        let answer = try MediaProcessor().perform(
            .inspect(InspectRequest(format: format, decodesStills: decodes)), descriptors: [descriptor],
            deadline: .now + .seconds(60))
        guard case .inspected(let media, _) = answer else {
            throw GeneratedMedia.FixtureError(description: "\(answer)")
        }
        return media
    }

    private static func patched(_ file: String, _ name: String, at offset: Int, _ bytes: [UInt8]) throws -> String {
        var content = try [UInt8](Data(contentsOf: URL(fileURLWithPath: file)))
        content.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        return try GeneratedMedia.file(name, bytes: content).path
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [value >> 24, value >> 16, value >> 8, value].map { UInt8(truncatingIfNeeded: $0) }
    }

    /// CRC-32 as in the chunks of PNG.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0 as UInt32) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
    }

    /// Expects inspection and rendering to reject the file.
    private static func expectTooManyPixels(_ file: String, _ format: MediaFormat) {
        expectTooManyPixels(inspecting: file, format, decodes: false)
        let rendered = #expect(throws: AttachPrepError.self) {
            try RenderedStill(file, format: format, reencodes: true)
        }
        #expect(rendered?.code == .mediaTooManyPixels, "\(rendered?.description ?? "")")
    }

    private static func expectTooManyPixels(inspecting file: String, _ format: MediaFormat, decodes: Bool) {
        let inspected = #expect(throws: AttachPrepError.self) { try inspect(file, format, decodes: decodes) }
        #expect(inspected?.code == .mediaTooManyPixels, "\(inspected?.description ?? "")")
    }

    @Test(arguments: [50_000, 30_000, 11_000]) func `A PNG with too many pixels is rejected by its header`(
        side: Int
    ) throws {
        let size = Self.bigEndian(side) + Self.bigEndian(side)
        let header = Array("IHDR".utf8) + size + [8, 2, 0, 0, 0]
        let file = try Self.patched(
            StillFixture.converted("small.png", ["-strip", "-define", "png:format=png24"]), "bomb.png", at: 12,
            header + Self.bigEndian(Int(Self.checksum(header))))
        Self.expectTooManyPixels(file, .png)
    }

    @Test func `An interlaced PNG with 800 MB of pixels is rejected before they are allocated`() throws {
        let size = Self.bigEndian(10_000) + Self.bigEndian(10_000)
        let header = Array("IHDR".utf8) + size + [16, 6, 0, 0, 1]
        let file = try Self.patched(
            StillFixture.converted("small.png", ["-strip", "-define", "png:format=png24"]), "interlaced.png", at: 12,
            header + Self.bigEndian(Int(Self.checksum(header))))
        Self.expectTooManyPixels(file, .png)
        let error = #expect(throws: AttachPrepError.self) { try Self.inspect(file, .png) }
        #expect(error?.message.contains("interlaced") == true)
    }

    @Test func `A small WebP file of 268 megapixels is rejected by its header`() throws {
        let small = try StillFixture.converted("small.webp", ["-define", "webp:lossless=true", "-strip"])
        // After the signature of VP8L, each side minus one in 14 bits.
        let size = 16_382 | 16_382 << 14
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
        Self.expectTooManyPixels(try Self.patched(small, "bomb.webp", at: 21, bytes), .webp)
    }

    @Test func `A progressive JPEG whose coefficients do not fit in memory is rejected by its header`() throws {
        let small = try StillFixture.converted(
            "small.jpg", ["-strip", "-interlace", "JPEG", "-sampling-factor", "1x1"])
        let content = try [UInt8](Data(contentsOf: URL(fileURLWithPath: small)))
        let frame = try #require(content.indices.first { content[$0...].starts(with: [0xFF, 0xC2, 0]) })
        let file = try Self.patched(small, "bomb.jpg", at: frame + 5, [0x23, 0x28, 0x2E, 0xE0])
        Self.expectTooManyPixels(file, .jpeg)
        // Also with decoding, which would make libjpeg allocate the coefficients.
        Self.expectTooManyPixels(inspecting: file, .jpeg, decodes: true)
    }

    @Test(arguments: [MediaFormat.heic, .avif]) func `HEIC and AVIF have a lower pixel limit`(format: MediaFormat) {
        #expect(throws: Never.self) { try ImageLimits.check(width: 8_160, height: 6_120, format: format) }
        #expect(throws: AttachPrepError.self) {
            try ImageLimits.check(width: 9_000, height: 6_000, format: format)
        }
        #expect(throws: Never.self) { try ImageLimits.check(width: 9_000, height: 6_000, format: .jpeg) }
    }

    @Test func `A PNG of 50,000 x 100 pixels is prepared`() throws {
        let file = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-wide.png").path
        try GeneratedMedia.run("vips", ["black", file, "50000", "100"])
        #expect(try Self.inspect(file, .png).width == 50_000)
        var request = RenderRequest(format: .png, frameSelection: .still)
        request.attachment = .still(StillRendition(bytesMax: 1_000_000, longSideMax: 1280))
        request.thumbnail = ThumbnailRendition(width: 300, height: 300, fit: .contain)
        request.crop = .smart(.square)
        let still = try RenderedStill(file, request)
        #expect(still.media.attachment?.width == 1280 && still.media.crop?.width == 100)
    }

    @Test func `An image that does not fit in memory is decoded smaller, with a reduction`() throws {
        let file = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-large.jpg").path
        // A rotated image is in memory twice.
        try GeneratedMedia.run("vips", ["black", file, "10000", "8000"])
        var request = RenderRequest(format: .jpeg, frameSelection: .still)
        request.attachment = .still(StillRendition(bytesMax: 10_000_000))
        let upright = try RenderedStill(file, request)
        #expect(upright.media.attachment?.width == 10_000)
        let content = try [UInt8](Data(contentsOf: URL(fileURLWithPath: file)))
        let exif: [UInt8] =
            [0xFF, 0xE1, 0, 34] + Array("Exif\0\0MM".utf8)
            + [0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        let rotated = try GeneratedMedia.file("rotated.jpg", bytes: content[..<2] + exif + content[2...]).path
        let still = try RenderedStill(rotated, request)
        let (width, height) = (
            try #require(still.media.attachment?.width), try #require(still.media.attachment?.height)
        )
        #expect(width < 8_000 && abs(width * 10_000 - height * 8_000) < 20_000)
        #expect(still.media.reductions.first?.contains("to fit in memory") == true)
    }
}
