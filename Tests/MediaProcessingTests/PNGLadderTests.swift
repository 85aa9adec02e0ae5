import Foundation
import MediaEngine
import MediaProcessing
import RichPush
import TestSupport
import Testing

/// PNGs over their limit come down step by step, losslessness last.
struct PNGLadderTests {
    private static func shrunk(_ file: String, bytesMax: Int) throws -> RenderedStill {
        var request = RenderRequest(format: .png, picture: .still)
        request.attachment = .still(StillRendition(bytesMax: bytesMax))
        return try RenderedStill(file, request)
    }

    private static func size(_ file: String) throws -> Int {
        try Data(contentsOf: URL(fileURLWithPath: file)).count
    }

    /// Flat areas and lines: what screenshots are made of, with few colours, stored as loosely as can be.
    private static func drawing(_ name: String, _ more: [String] = []) throws -> String {
        try StillFixture.converted(name, ["-resize", "1600x1200!", "-colors", "64"] + more)
    }

    private static func photograph(_ name: String, side: Int = 2000, noise: Int = 60) throws -> String {
        try GeneratedMedia.file(
            name,
            [
                "-f", "lavfi", "-i", "\(GradientSource.of(side, side * 3 / 4, seed: 7, colours: 8)),format=rgb24",
                "-vf", "scale=iw/2:ih/2,noise=alls=\(noise):allf=u:all_seed=3,scale=\(side):-1", "-frames:v", "1",
            ]
        ).path
    }

    /// What we pack all its pixels into.
    private static func exactBytes(_ file: String) throws -> Int {
        let loose = try StillFixture.repacked(file)
        return try #require(try shrunk(loose, bytesMax: try size(loose) * 9 / 10).media.attachment).bytes
    }

    @Test func `Loosely packed pixels are packed tighter, and not one of them changes`() throws {
        let file = try Self.drawing(
            "loose.png", ["-define", "png:compression-level=0", "-define", "png:format=png24"])
        let still = try Self.shrunk(file, bytesMax: try Self.size(file) / 3)
        let attachment = try #require(still.media.attachment)
        #expect(attachment.type == .png && attachment.width == 1600)
        #expect(still.media.concessions.count == 1)
        #expect(still.media.concessions.first?.contains("losslessly") == true)
        #expect(try still.picture(.attachment).bytes == TestPicture(decoding: file).bytes)
    }

    @Test func `Few colours become an exact palette, greys a single channel, a full alpha goes`() throws {
        let sources: [[String]] = [
            ["-define", "png:format=png32", "-alpha", "set"], ["-colorspace", "Gray", "-define", "png:format=png24"],
            ["-depth", "16", "-define", "png:format=png48"],
        ]
        for (index, arguments) in sources.enumerated() {
            let file = try Self.drawing("few\(index).png", arguments + ["-define", "png:compression-level=1"])
            let still = try Self.shrunk(file, bytesMax: try Self.size(file) * 8 / 10)
            #expect(still.media.attachment?.width == 1600, "\(arguments)")
            let distance = try PictureDistance(still.picture(.attachment), TestPicture(decoding: file))
            // ffmpeg rounds 16 bits to 8 in its own way.
            #expect(distance.blockMax <= (arguments.contains("16") ? 1 : 0), "\(arguments)")
        }
    }

    @Test func `Colours that are hardly missed give way before size`() throws {
        let file = try GeneratedMedia.file(
            "bands.png",
            [
                "-f", "lavfi", "-i", GradientSource.of(1800, 1350, seed: 3, colours: 3, ":type=radial"),
                "-frames:v", "1",
            ]
        ).path
        let exact = try Self.exactBytes(file)
        let still = try Self.shrunk(file, bytesMax: exact * 6 / 10)
        let attachment = try #require(still.media.attachment)
        #expect(attachment.type == .png && attachment.width == 1800)
        #expect(still.media.concessions.contains { $0.contains("palette of 256") })
        #expect(try PictureDistance(still.picture(.attachment), TestPicture(decoding: file)).mean < 1)
    }

    @Test func `Where a palette would show, size gives way, down to what a phone shows`() throws {
        let file = try Self.photograph("photo.png")
        let exact = try Self.exactBytes(file)
        let still = try Self.shrunk(file, bytesMax: exact * 6 / 10)
        let attachment = try #require(still.media.attachment)
        let width = try #require(attachment.width)
        #expect(attachment.type == .png && width >= 1280 && width < 2000)
        #expect(attachment.bytes >= exact * 6 / 10 * 85 / 100 && attachment.bytes <= exact * 6 / 10)
        #expect(still.media.concessions.contains { $0.contains("reduced to \(width) x") })
    }

    @Test func `Only then an opaque PNG becomes a JPEG, and says so`() throws {
        let file = try Self.photograph("last.png")
        let still = try Self.shrunk(file, bytesMax: 500_000)
        let attachment = try #require(still.media.attachment)
        #expect(attachment.type == .jpeg && attachment.bytes <= 500_000 && attachment.bytes > 425_000)
        #expect(still.media.concessions.first?.contains("became a JPEG") == true)
    }
}
