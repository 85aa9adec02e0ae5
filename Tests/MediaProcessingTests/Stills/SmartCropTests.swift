import Foundation
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

/// The crop that contains the most salient part of an image.
struct SmartCropTests {
    private static func cropped(_ file: String, _ ratio: AspectRatio, format: MediaFormat = .png) throws
        -> RenderedStill
    {
        var request = RenderRequest(format: format, frameSelection: .still)
        request.crop = .smart(ratio)
        request.thumbnail = ThumbnailRendition(width: 300, height: 300, fit: .contain)
        return try RenderedStill(file, request)
    }

    /// A flat gray image with drawings by ImageMagick.
    private static func scene(_ size: String, _ drawings: [String], ground: String = "gray60") throws -> String {
        let target = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-scene.png").path
        let draw = drawings.flatMap { ["-draw", $0] }
        try GeneratedMedia.run("convert", ["-size", size, "xc:\(ground)"] + draw + [target])
        return target
    }

    private static func rect(_ still: RenderedStill) throws -> ClippingRect { try #require(still.media.clippingRect) }

    @Test(arguments: [0.08, 0.3, 0.5, 0.7, 0.92])
    func `A bright object on a flat background is inside the crop at any position`(
        center: Double
    ) throws {
        let x = Int(center * 1600)
        let wide = try Self.scene("1600x600", ["fill red circle \(x),300 \(x + 70),300"])
        let across = try Self.rect(Self.cropped(wide, .square))
        #expect(
            across.x <= max(0, center - 70 / 1600) && across.x + across.width >= min(1, center + 70 / 1600),
            "\(across)")
        #expect(across.y == 0 && across.height == 1)
        let tall = try Self.scene("600x1600", ["fill yellow circle 200,\(x) 250,\(x)"])
        let down = try Self.rect(Self.cropped(tall, .square))
        #expect(down.y <= max(0, center - 50 / 1600) && down.y + down.height >= min(1, center + 50 / 1600), "\(down)")
    }

    @Test func `A head at the top of a portrait is inside the crop`() throws {
        let person = [
            "fill navy roundrectangle 150,420 450,1200 80,80", "fill #e0ac8a ellipse 300,250 90,120 0,360",
            "fill #3b2a20 ellipse 300,170 95,60 0,360", "fill black circle 265,240 273,240",
            "fill black circle 335,240 343,240",
        ]
        let rect = try Self.rect(Self.cropped(Self.scene("600x1200", person, ground: "#9fb6c8"), .square))
        #expect(rect.y <= 100.0 / 1200 && rect.y + rect.height >= 380.0 / 1200, "\(rect)")
    }

    @Test(arguments: [
        AspectRatio(width: 16, height: 9), .square, AspectRatio(width: 9, height: 16), AspectRatio(width: 3, height: 2),
    ])
    func `The crop is the largest with its aspect ratio inside the image`(ratio: AspectRatio) throws {
        let still = try Self.cropped(StillFixture.sample("grid.png"), ratio)
        let (rect, crop) = (try Self.rect(still), try #require(still.media.crop))
        #expect(rect.x >= 0 && rect.y >= 0 && rect.x + rect.width <= 1 && rect.y + rect.height <= 1)
        #expect(crop.width == 800 || crop.height == 600)
        #expect(abs(Double(crop.width) - Double(crop.height) * Double(ratio.width) / Double(ratio.height)) <= 1)
        #expect(rect.pixels(width: 800, height: 600).width == crop.width)
        let shown = try #require(still.media.thumbnail)
        #expect(abs(Double(shown.width) / Double(shown.height) - Double(crop.width) / Double(crop.height)) < 0.02)
    }

    @Test func `The image's own aspect ratio gives the whole image`() throws {
        let rect = try Self.rect(Self.cropped(StillFixture.sample("grid.png"), AspectRatio(width: 4, height: 3)))
        #expect(rect.x == 0 && rect.y == 0 && rect.width == 1 && rect.height == 1)
    }

    @Test func `The same image gives the same crop, and a blank one its center`() throws {
        let file = try Self.scene(
            "1000x400", ["fill green rectangle 700,100 800,300", "fill white circle 300,200 330,200"])
        #expect(try Self.rect(Self.cropped(file, .square)) == Self.rect(Self.cropped(file, .square)))
        let blank = try Self.rect(Self.cropped(Self.scene("1000x400", []), .square))
        #expect(abs(blank.x - 0.3) < 0.02)
    }

    @Test func `A movie's frame is cropped as well`() throws {
        let movie = try GeneratedMedia.file(
            "ball.mp4",
            [
                "-f", "lavfi", "-i", "color=gray:s=640x240:r=25:d=1,drawbox=x=500:y=90:w=60:h=60:c=red:t=fill",
                "-pix_fmt", "yuv420p",
            ])
        var request = RenderRequest(format: .mpeg4, frameSelection: .movieTime(0.5))
        request.crop = .smart(.square)
        let rect = try Self.rect(RenderedStill(movie.path, request))
        #expect(rect.x <= 500.0 / 640 && rect.x + rect.width >= 560.0 / 640)
    }
}
