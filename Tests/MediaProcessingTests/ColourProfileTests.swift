import Foundation
import RichPush
import TestSupport
import Testing

@testable import MediaProcessing

/// What a colour profile does to a picture, and what one that belongs to other pictures does not.
struct ColourProfileTests {
    /// A JPEG of the samples' motif with a profile behind its first marker.
    private func profiled(_ arguments: [String], _ profile: [UInt8]) throws -> String {
        let plain = try StillFixture.converted("plain.jpg", arguments)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: plain)))
        let segment = MediaBytes.jpeg(0xE2, MediaBytes.text("ICC_PROFILE\0") + [1, 1] + profile)
        return try GeneratedMedia.file("profiled.jpg", bytes: bytes.prefix(2) + segment + bytes.dropFirst(2)).path
    }

    @Test func `A grey JPEG is shown by its own curve, and is as opaque as it was`() throws {
        let grey = ["-colorspace", "Gray"]
        let plain = try RenderedStill(StillFixture.converted("plain.jpg", grey), format: .jpeg)
        let light = try RenderedStill(profiled(grey, WrittenProfile.grey(gamma: 1)), format: .jpeg)
        #expect(light.media.thumbnail?.type == .jpeg)
        let (before, after) = try (plain.picture(.thumbnail), light.picture(.thumbnail))
        let (dark, bright) = (before.colour(atUnitX: 0.05, y: 0.1), after.colour(atUnitX: 0.05, y: 0.1))
        #expect(bright.red > dark.red + 20)
        #expect(abs(bright.red - bright.green) < 5 && abs(bright.green - bright.blue) < 5)
    }

    @Test(arguments: [false, true]) func `A profile of grey changes nothing in a picture with colours`(
        isWrittenAnew: Bool
    ) throws {
        let file = try profiled([], WrittenProfile.grey(gamma: 1))
        let still = try RenderedStill(file, format: .jpeg, anew: isWrittenAnew)
        #expect(still.media.thumbnail?.type == .jpeg)
        #expect(still.media.attachment.map { $0.type == .jpeg } ?? true)
        let distance = try PictureDistance(
            still.picture(.thumbnail), TestPicture(decoding: StillFixture.sample("grid.png")))
        #expect(distance.mean < 3, "\(distance)")
    }

    @Test(arguments: ["600x", "1400x", "3600x"]) func `A CMYK JPEG stands upright at every reduction`(
        size: String
    ) throws {
        let tiff = try StillFixture.converted(
            "cmyk.tiff", ["-resize", size, "-rotate", "270", "-colorspace", "CMYK", "-orient", "RightTop"])
        let file = tiff.replacingOccurrences(of: ".tiff", with: ".jpg")
        try GeneratedMedia.run("vips", ["copy", tiff, "\(file)[Q=95]"])
        let still = try RenderedStill(file, format: .jpeg)
        #expect(still.media.thumbnail?.width == 300 && still.media.thumbnail?.height == 225)
        // The brightest colours are lost to inks; a picture that lies on its side is over 60.
        let distance = try PictureDistance(
            still.picture(.thumbnail), TestPicture(decoding: StillFixture.sample("grid.png")))
        #expect(distance.mean < 22, "\(distance)")
    }
}
