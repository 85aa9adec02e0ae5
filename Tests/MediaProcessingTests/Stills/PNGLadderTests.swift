import Foundation
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

/// PNGs over their limit are reduced step by step: lossless first, a JPEG last.
struct PNGLadderTests {
    private static func shrunk(_ file: String, bytesMax: Int) throws -> RenderedStill {
        var request = RenderRequest(format: .png, frameSelection: .still)
        request.attachment = .still(StillRendition(bytesMax: bytesMax))
        return try RenderedStill(file, request)
    }

    private static func size(_ file: String) throws -> Int {
        try Data(contentsOf: URL(fileURLWithPath: file)).count
    }

    /// Flat areas and lines of few colors, like a screenshot, hardly compressed.
    private static func drawing(_ name: String, _ more: [String] = []) throws -> String {
        try StillFixture.converted(name, ["-resize", "1600x1200!", "-colors", "64"] + more)
    }

    private static func photograph(_ name: String, side: Int = 2000, noise: Int = 60) throws -> String {
        try GeneratedMedia.file(
            name,
            [
                "-f", "lavfi", "-i", "\(GradientSource.arguments(side, side * 3 / 4, seed: 7, colors: 8)),format=rgb24",
                "-vf", "scale=iw/2:ih/2,noise=alls=\(noise):allf=u:all_seed=3,scale=\(side):-1", "-frames:v", "1",
            ]
        ).path
    }

    /// The size of the PNG that the product writes without loss.
    private static func losslessBytes(_ file: String) throws -> Int {
        let repacked = try StillFixture.repacked(file)
        return try #require(try shrunk(repacked, bytesMax: try size(repacked) * 9 / 10).media.attachment).bytes
    }

    @Test func `A loosely compressed PNG is recompressed without changing a pixel`() throws {
        let file = try Self.drawing(
            "loose.png", ["-define", "png:compression-level=0", "-define", "png:format=png24"])
        let still = try Self.shrunk(file, bytesMax: try Self.size(file) / 3)
        let attachment = try #require(still.media.attachment)
        #expect(attachment.type == .png && attachment.width == 1600)
        #expect(still.media.reductions.count == 1)
        #expect(still.media.reductions.first?.contains("losslessly") == true)
        #expect(try still.image(.attachment).bytes == TestImage(decoding: file).bytes)
    }

    @Test func `Few colors, gray and opaque alpha are stored in fewer bits without loss`() throws {
        let sources: [[String]] = [
            ["-define", "png:format=png32", "-alpha", "set"], ["-colorspace", "Gray", "-define", "png:format=png24"],
            ["-depth", "16", "-define", "png:format=png48"],
        ]
        for (index, arguments) in sources.enumerated() {
            let file = try Self.drawing("few\(index).png", arguments + ["-define", "png:compression-level=1"])
            let still = try Self.shrunk(file, bytesMax: try Self.size(file) * 8 / 10)
            #expect(still.media.attachment?.width == 1600, "\(arguments)")
            let distance = try ImageDistance(still.image(.attachment), TestImage(decoding: file))
            // ffmpeg rounds 16 bits to 8 differently.
            #expect(distance.blockMax <= (arguments.contains("16") ? 1 : 0), "\(arguments)")
        }
    }

    @Test func `Colors are reduced before size where the loss is hardly visible`() throws {
        let file = try GeneratedMedia.file(
            "bands.png",
            [
                "-f", "lavfi", "-i", GradientSource.arguments(1800, 1350, seed: 3, colors: 3, ":type=radial"),
                "-frames:v", "1",
            ]
        ).path
        let lossless = try Self.losslessBytes(file)
        let still = try Self.shrunk(file, bytesMax: lossless * 6 / 10)
        let attachment = try #require(still.media.attachment)
        #expect(attachment.type == .png && attachment.width == 1800)
        #expect(still.media.reductions.contains { $0.contains("palette of 256") })
        #expect(try ImageDistance(still.image(.attachment), TestImage(decoding: file)).mean < 1)
    }

    @Test func `Size is reduced down to 1,280 pixels where a palette would be visible`() throws {
        let file = try Self.photograph("photo.png")
        let lossless = try Self.losslessBytes(file)
        let still = try Self.shrunk(file, bytesMax: lossless * 6 / 10)
        let attachment = try #require(still.media.attachment)
        let width = try #require(attachment.width)
        #expect(attachment.type == .png && width >= 1280 && width < 2000)
        #expect(attachment.bytes >= lossless * 6 / 10 * 85 / 100 && attachment.bytes <= lossless * 6 / 10)
        #expect(still.media.reductions.contains { $0.contains("reduced to \(width) x") })
    }

    @Test func `An opaque PNG becomes a JPEG last, with a reduction`() throws {
        let file = try Self.photograph("last.png")
        let still = try Self.shrunk(file, bytesMax: 500_000)
        let attachment = try #require(still.media.attachment)
        #expect(attachment.type == .jpeg && attachment.bytes <= 500_000 && attachment.bytes > 425_000)
        #expect(still.media.reductions.first?.contains("became a JPEG") == true)
    }
}
