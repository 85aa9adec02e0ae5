import AttachPrepModel
import Foundation
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

/// Stills that are encoded below a size limit.
struct StillLadderTests {
    /// An image with the detail and noise of a photograph: gradients, edges and grain.
    private static func photograph(_ name: String, side: Int = 1600) throws -> String {
        try GeneratedMedia.file(
            name,
            [
                "-f", "lavfi", "-i",
                "\(GradientSource.arguments(side, side * 3 / 4, seed: 7, colors: 5)),noise=alls=14:allf=u:all_seed=3",
                "-i", StillFixture.sample("grid.png"), "-filter_complex", "[0][1]overlay=200:150", "-frames:v", "1",
                "-q:v", "1",
            ]
        ).path
    }

    private static func shrunk(
        _ file: String, _ format: MediaFormat = .jpeg, bytesMax: Int, longSideMax: Int? = nil
    ) throws -> RenderedStill {
        var request = RenderRequest(format: format, frameSelection: .still)
        request.attachment = .still(StillRendition(bytesMax: bytesMax, longSideMax: longSideMax))
        request.thumbnail = ThumbnailRendition(width: 300, height: 300, fit: .contain)
        return try RenderedStill(file, request)
    }

    @Test(arguments: [900_000, 600_000, 400_000, 250_000, 120_000, 60_000, 25_000, 10_000, 4_000])
    func `A photograph is encoded just below its limit`(bytesMax: Int) throws {
        let still = try Self.shrunk(Self.photograph("photograph.jpg"), bytesMax: bytesMax)
        let attachment = try #require(still.media.attachment)
        #expect(attachment.type == .jpeg)
        #expect(try still.bytes(.attachment).count == attachment.bytes)
        #expect(attachment.bytes <= bytesMax)
        #expect(
            attachment.bytes >= bytesMax * 85 / 100 || still.media.reductions.isEmpty,
            "\(attachment) \(still.media.reductions)")
        let decoded = try still.image(.attachment)
        #expect(decoded.width == attachment.width && decoded.height == attachment.height)
    }

    @Test func `An image that fits at full quality has no reductions`() throws {
        let still = try Self.shrunk(Self.photograph("whole.bmp"), .bmp, bytesMax: 10_000_000)
        #expect(still.media.reductions.isEmpty && !still.media.isDegraded)
        #expect(still.media.attachment?.width == 1600)
    }

    @Test func `Quality is reduced first, then size`() throws {
        let file = try Self.photograph("order.jpg")
        let coarse = try Self.shrunk(file, bytesMax: 900_000)
        #expect(coarse.media.attachment?.width == 1600)
        #expect(coarse.media.reductions.count == 1)
        #expect(coarse.media.reductions.first?.contains("quality was lowered") == true)
        let small = try Self.shrunk(file, bytesMax: 60_000)
        let width = try #require(small.media.attachment?.width)
        #expect(width < 1600)
        #expect(small.media.reductions.first?.contains("reduced to \(width) x ") == true)
    }

    @Test func `A maximum side is applied first and is not a reduction`() throws {
        let still = try Self.shrunk(Self.photograph("side.jpg"), bytesMax: 5_000_000, longSideMax: 640)
        #expect(still.media.attachment?.width == 640 && still.media.attachment?.height == 480)
        #expect(still.media.reductions.isEmpty)
        // The attachment averages light, the thumbnail stored samples.
        let distance = try ImageDistance(still.image(.attachment), still.image(.thumbnail))
        #expect(distance.mean < 6, "\(distance)")
    }

    @Test func `The maximum side applies to the upright image`() throws {
        let file = try StillFixture.converted(
            "rotated.tiff", ["-rotate", "270", "-orient", "RightTop"])
        let still = try Self.shrunk(file, .tiff, bytesMax: 5_000_000, longSideMax: 400)
        #expect(still.media.attachment?.width == 400 && still.media.attachment?.height == 300, "\(still.media)")
        #expect(SampleMotif.cells(in: try still.image(.attachment)) == Array(1...12))
    }

    @Test func `An image is never enlarged`() throws {
        let still = try Self.shrunk(StillFixture.sample("grid.tiff"), .tiff, bytesMax: 5_000_000, longSideMax: 1280)
        #expect(still.media.attachment?.width == 800)
    }

    @Test func `A transparent image loses colors and size but not its transparency`() throws {
        let file = try GeneratedMedia.file(
            "glass.png",
            [
                "-i", try Self.photograph("glass.bmp"), "-vf",
                "format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='255*lt(hypot(X-800,Y-600),500)'",
            ]
        ).path
        let still = try Self.shrunk(file, .png, bytesMax: 200_000)
        let attachment = try #require(still.media.attachment)
        #expect(attachment.type == .png && attachment.bytes <= 200_000 && attachment.bytes > 150_000)
        #expect(try still.image(.attachment).alpha(atUnitX: 0.02, y: 0.02) < 5)
        #expect(try still.image(.attachment).alpha(atUnitX: 0.5, y: 0.5) > 250)
        #expect(still.media.reductions.contains { $0.contains("palette of 256") })
    }

    @Test func `An impossible size limit fails with limit exceeded`() throws {
        let error = #expect(throws: AttachPrepError.self) {
            try Self.shrunk(Self.photograph("impossible.jpg"), bytesMax: 100)
        }
        #expect(error?.code == .limitExceeded)
    }
}
