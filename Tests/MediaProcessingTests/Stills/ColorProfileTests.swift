import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

/// The effect of a color profile on an image, and that an unsuitable profile has none.
struct ColorProfileTests {
    /// A JPEG of the sample motif with a profile after its first marker.
    private func profiled(_ arguments: [String], _ profile: [UInt8]) throws -> String {
        let plain = try StillFixture.converted("plain.jpg", arguments)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: plain)))
        let segment = MediaBytes.jpeg(0xE2, MediaBytes.text("ICC_PROFILE\0") + [1, 1] + profile)
        return try GeneratedMedia.file("profiled.jpg", bytes: bytes.prefix(2) + segment + bytes.dropFirst(2)).path
    }

    @Test func `A gray JPEG is rendered with the curve of its profile and stays opaque`() throws {
        let gray = ["-colorspace", "Gray"]
        let plain = try RenderedStill(StillFixture.converted("plain.jpg", gray), format: .jpeg)
        let light = try RenderedStill(profiled(gray, GrayProfile.icc(gamma: 1)), format: .jpeg)
        #expect(light.media.thumbnail?.type == .jpeg)
        let (before, after) = try (plain.image(.thumbnail), light.image(.thumbnail))
        let (dark, bright) = (before.color(atUnitX: 0.05, y: 0.1), after.color(atUnitX: 0.05, y: 0.1))
        #expect(bright.red > dark.red + 20)
        #expect(abs(bright.red - bright.green) < 5 && abs(bright.green - bright.blue) < 5)
    }

    @Test(arguments: [false, true]) func `A gray profile has no effect on a color image`(
        isReencoded: Bool
    ) throws {
        let file = try profiled([], GrayProfile.icc(gamma: 1))
        let still = try RenderedStill(file, format: .jpeg, reencodes: isReencoded)
        #expect(still.media.thumbnail?.type == .jpeg)
        #expect(still.media.attachment.map { $0.type == .jpeg } ?? true)
        let distance = try ImageDistance(
            still.image(.thumbnail), TestImage(decoding: StillFixture.sample("grid.png")))
        #expect(distance.mean < 3, "\(distance)")
    }

    @Test(arguments: ["600x", "1400x", "3600x"]) func `A CMYK JPEG is rotated upright at every reduction`(
        size: String
    ) throws {
        let tiff = try StillFixture.converted(
            "cmyk.tiff", ["-resize", size, "-rotate", "270", "-colorspace", "CMYK", "-orient", "RightTop"])
        let file = tiff.replacingOccurrences(of: ".tiff", with: ".jpg")
        try GeneratedMedia.run("vips", ["copy", tiff, "\(file)[Q=95]"])
        let still = try RenderedStill(file, format: .jpeg)
        #expect(still.media.thumbnail?.width == 300 && still.media.thumbnail?.height == 225)
        // CMYK loses the brightest colors; an image rotated wrongly is over 60.
        let distance = try ImageDistance(
            still.image(.thumbnail), TestImage(decoding: StillFixture.sample("grid.png")))
        #expect(distance.mean < 22, "\(distance)")
    }
}

/// A gray color profile, built tag by tag.
///
/// Source: ICC.1:2010, 7.2 (header), 7.3 (tags), 10.6 (`curv`), 10.31 (`XYZ`).
enum GrayProfile {
    /// - Parameter gamma: The exponent of the curve from code to light; sRGB has about 2.2.
    static func icc(gamma: Double) -> [UInt8] {
        let white = MediaBytes.text("XYZ ") + MediaBytes.zeros(4) + daylight
        // A count of one: an exponent with eight fractional bits.
        let curve =
            MediaBytes.text("curv") + MediaBytes.zeros(4) + MediaBytes.bigEndian(1, 4)
            + MediaBytes.bigEndian(Int(gamma * 256), 2) + MediaBytes.zeros(2)
        let tags = [("wtpt", white), ("kTRC", curve)]
        let start = 128 + 4 + tags.count * 12
        var (table, contents) = (MediaBytes.bigEndian(tags.count, 4), [UInt8]())
        for (name, content) in tags {
            table += MediaBytes.text(name) + MediaBytes.bigEndian(start + contents.count, 4)
            table += MediaBytes.bigEndian(content.count, 4)
            contents += content
        }
        return header(bytes: start + contents.count) + table + contents
    }

    /// The white point of the connection space, D50.
    private static let daylight = [0xF6D6, 0x10000, 0xD32D].flatMap { MediaBytes.bigEndian($0, 4) }

    private static func header(bytes: Int) -> [UInt8] {
        let kind = MediaBytes.text("mntrGRAYXYZ ")
        let start = MediaBytes.bigEndian(bytes, 4) + MediaBytes.zeros(4) + [2, 0x40, 0, 0] + kind
        let dated = start + MediaBytes.zeros(12) + MediaBytes.text("acsp")
        return dated + MediaBytes.zeros(28) + daylight + MediaBytes.zeros(48)
    }
}
