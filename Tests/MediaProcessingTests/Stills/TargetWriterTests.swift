import AttachPrepModel
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

/// Pictures for other systems, made with the thumbnail.
@Suite(.timeLimit(.minutes(2))) struct TargetWriterTests {
    private static let wide = TargetRendition("wide", width: 400, height: 200, bytesMax: 100_000, bytesAim: 60_000)
    private static let square = TargetRendition("square", width: 128, height: 128, bytesMax: 50_000, bytesAim: 50_000)
    private static let badge = TargetRendition(
        "badge", width: 96, height: 96, fit: .whole, content: .silhouette, bytesMax: 50_000, bytesAim: 50_000)

    private func rendered(
        _ name: String, _ format: MediaFormat, _ targets: [TargetRendition], frame: FrameSelection = .still,
        change: (inout RenderRequest) -> Void = { _ in }
    ) throws -> RenderedStill {
        var request = RenderRequest(format: format, frameSelection: frame)
        request.thumbnail = ThumbnailRendition(width: 100, height: 100, fit: .contain)
        request.targets = targets
        change(&request)
        return try RenderedStill(StillFixture.sample(name), request)
    }

    @Test(arguments: [
        ("grid.jpg", MediaFormat.jpeg), ("grid.png", .png), ("grid.webp", .webp), ("grid.heic", .heic),
        ("grid.avif", .avif), ("grid.tiff", .tiff), ("grid.gif", .gif), ("cmyk.jpg", .jpeg),
    ]) func `An image of any format is cut to the proportions of each target`(name: String, format: MediaFormat) throws
    {
        let still = try rendered(name, format, [Self.wide, Self.square])
        let (wide, square) = (try #require(still.media.targets["wide"]), try #require(still.media.targets["square"]))
        #expect(wide.width == wide.height * 2 && wide.width <= 400)
        #expect(square.width == square.height && square.width <= 128)
        let written = try still.bytes(.target("wide")).count
        #expect(wide.bytes <= 100_000 && wide.bytes == written)
        #expect(still.media.thumbnail?.width == 100)
        #expect(still.media.missingTargets.isEmpty)
    }

    @Test func `A thumbnail looks the same with targets as without`() throws {
        let alone = try rendered("grid.jpg", .jpeg, [])
        let together = try rendered("grid.jpg", .jpeg, [Self.wide])
        let distance = try ImageDistance(alone.image(.thumbnail), together.image(.thumbnail))
        // Alone, it is reduced while it is decoded; the edges of the digits then differ a little. Another crop is over
        // 10 (`ImageDistance`).
        #expect(distance.mean < 7, "\(distance)")
    }

    @Test func `Nothing is enlarged`() throws {
        let huge = TargetRendition("huge", width: 4_000, height: 2_000, bytesMax: 1_000_000, bytesAim: 1_000_000)
        let still = try rendered("grid.jpg", .jpeg, [huge])
        let picture = try #require(still.media.targets["huge"])
        #expect((picture.width, picture.height) == (800, 400))
    }

    @Test func `Targets are made beside an attachment that is encoded`() throws {
        let still = try rendered("grid.heic", .heic, [Self.wide]) {
            $0.attachment = .still(StillRendition(bytesMax: 1_000_000))
        }
        #expect(still.media.attachment?.width == 800)
        #expect(still.media.targets["wide"]?.width == 400)
    }

    @Test func `A chosen part is what all systems show`() throws {
        let part = try ClippingRect(x: 0, y: 0, width: 0.25, height: 0.25)
        let still = try rendered("grid.jpg", .jpeg, [Self.wide]) { $0.crop = .part(part) }
        let picture = try #require(still.media.targets["wide"])
        #expect((picture.width, picture.height) == (200, 100))
    }

    @Test func `A transparent image stays transparent`() throws {
        let still = try rendered("transparent.webp", .webp, [Self.square])
        #expect(still.media.targets["square"]?.type == .png)
    }

    @Test func `A badge is white with the image's transparency`() throws {
        let still = try rendered("transparent.webp", .webp, [Self.badge])
        let image = try still.image(.target("badge"))
        #expect((image.width, image.height) == (96, 96))
        #expect(still.media.targets["badge"]?.type == .png)
    }

    @Test func `An opaque photograph has no silhouette`() throws {
        let photograph = try StillFixture.converted("noise.png", ["-resize", "200x200!", "+noise", "Random"])
        var request = RenderRequest(format: .png, frameSelection: .still)
        request.targets = [Self.badge, Self.square]
        let media = try RenderedStill(photograph, request).media
        #expect(media.missingTargets == ["badge": .targetNoImage])
        #expect(media.targets["square"] != nil)
    }

    @Test func `The least size that serves thumbnail and targets is decoded`() {
        var request = RenderRequest(format: .jpeg, frameSelection: .still)
        request.thumbnail = ThumbnailRendition(width: 300, height: 300, fit: .contain)
        request.targets = [Self.wide]
        // Of 4,000 x 3,000 pixels, 2:1 is 4,000 wide.
        #expect(DecodedSize(request, imageWidth: 4_000, imageHeight: 3_000).longSide == 400)
        request.targets = [Self.square]
        #expect(DecodedSize(request, imageWidth: 4_000, imageHeight: 3_000).longSide == 300)
        request.crop = .smart(.square)
        #expect(DecodedSize(request, imageWidth: 4_000, imageHeight: 3_000).longSide == nil)
    }
}
