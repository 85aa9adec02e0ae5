import AttachPrepModel
import Foundation
import RichPush
import TestSupport
import Testing

@testable import MediaProcessing
@testable import Vips

/// Flattened images of Photoshop documents. All images are 2 x 1 pixels unless they say otherwise.
@Suite struct PhotoshopDecoderTests {
    private func image(_ bytes: [UInt8]) throws -> Image {
        try VipsLibrary.start()
        return try withDescriptor(GeneratedMedia.file("a.psd", bytes: bytes)) {
            try PhotoshopDecoder.image(descriptor: $0, deadline: .now + .seconds(30))
        }
    }

    private func code(_ bytes: [UInt8]) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try image(bytes) }?.code
    }

    private static let rgb: [[UInt8]] = [[255, 10], [0, 20], [0, 30]]

    @Test(arguments: [true, false], [true, false])
    func `RGB is read packed and unpacked, from PSD and PSB`(isPacked: Bool, isLarge: Bool) throws {
        let bytes = LegacyMedia.photoshop(
            width: 2, height: 1, channels: Self.rgb, isPacked: isPacked, isLarge: isLarge)
        #expect(try image(bytes).pixels() == [255, 0, 0, 10, 20, 30])
    }

    @Test func `Of 16 bits, the higher eight are used`() throws {
        let channels: [[UInt8]] = [[255, 255, 10, 99], [0, 0, 20, 99], [0, 0, 30, 99]]
        let bytes = LegacyMedia.photoshop(width: 2, height: 1, depth: 16, channels: channels, isPacked: false)
        #expect(try image(bytes).pixels() == [255, 0, 0, 10, 20, 30])
    }

    @Test func `Gray, a palette and one bit a pixel become sRGB`() throws {
        let gray = LegacyMedia.photoshop(width: 2, height: 1, mode: 1, channels: [[0, 255]])
        #expect(try image(gray).pixels() == [0, 0, 0, 255, 255, 255])
        let palette = (0..<3).flatMap { color in (0..<256).map { $0 == 7 ? UInt8(color * 100) : 9 } }
        let indexed = LegacyMedia.photoshop(width: 2, height: 1, mode: 2, channels: [[7, 0]], colorData: palette)
        #expect(try image(indexed).pixels() == [0, 100, 200, 9, 9, 9])
        let bits = LegacyMedia.photoshop(width: 2, height: 1, mode: 0, depth: 1, channels: [[0b0100_0000]])
        #expect(try image(bits).pixels() == [255, 255, 255, 0, 0, 0])
    }

    @Test func `CMYK is stored inverted, and becomes sRGB`() throws {
        let channels: [[UInt8]] = [[255, 255], [0, 255], [0, 255], [255, 0]]
        let pixels = try image(LegacyMedia.photoshop(width: 2, height: 1, mode: 4, channels: channels)).pixels()
        #expect(pixels[0] > 200 && pixels[1] < 80 && pixels[2] < 80, "red: \(pixels)")
        #expect(pixels[3...5].allSatisfy { $0 < 80 }, "black: \(pixels)")
    }

    /// A negative number of layers marks the transparency of the flattened image.
    @Test func `Transparency is kept, and the white that it was mixed with is removed`() throws {
        let layers = MediaBytes.bigEndian(2, 4) + MediaBytes.bigEndian(-1, 2)
        let channels: [[UInt8]] = [[255, 255], [127, 255], [127, 255], [128, 0]]
        let bytes = LegacyMedia.photoshop(width: 2, height: 1, channels: channels, layers: layers)
        let pixels = try image(bytes).pixels()
        #expect(pixels == [255, 0, 0, 128, 255, 255, 255, 0])
        let spot = LegacyMedia.photoshop(width: 2, height: 1, channels: channels)
        #expect(try image(spot).bands == 3)
    }

    @Test func `A document without a flattened image says how to save one`() throws {
        let resource = MediaBytes.text("8BIM") + [4, 33, 0, 0, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0]
        let error = #expect(throws: AttachPrepError.self) { try image(LegacyMedia.photoshop(resources: resource)) }
        #expect(error?.code == .mediaUnsupported && error?.message.contains("maximum compatibility") == true)
    }

    @Test(arguments: [(7, 8), (9, 8), (3, 32), (3, 1), (2, 16), (99, 8)])
    func `Other color modes and depths are unsupported`(mode: Int, depth: Int) {
        #expect(code(LegacyMedia.photoshop(mode: mode, depth: depth)) == .mediaUnsupported)
    }

    @Test(arguments: [true, false]) func `A truncated document is corrupt, wherever it ends`(isPacked: Bool) {
        let bytes = LegacyMedia.photoshop(isPacked: isPacked)
        for count in 8..<bytes.count { #expect(code(Array(bytes.prefix(count))) == .mediaCorrupt, "\(count)") }
    }

    @Test func `A document of ImageMagick looks like its source`() throws {
        for kind in [["-type", "TrueColor"], ["-type", "Palette"], ["-type", "TrueColor", "-depth", "16"]] {
            let file = try StillFixture.converted("a.psd", kind)
            let still = try RenderedStill(file, format: .photoshop, reencodes: true)
            #expect(SampleMotif.cells(in: try still.image(.attachment)) == Array(1...12), "\(kind)")
            #expect(still.media.attachment?.type == .jpeg)
        }
        let clear = try StillFixture.converted("a.psd", ["-alpha", "set", "-channel", "A", "-evaluate", "set", "40%"])
        #expect(try RenderedStill(clear, format: .photoshop, reencodes: true).media.attachment?.type == .png)
    }
}
