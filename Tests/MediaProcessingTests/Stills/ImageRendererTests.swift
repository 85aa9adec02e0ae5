import AttachPrepModel
import Foundation
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

/// Rendered stills are upright, in sRGB, and of the right size and type.
struct ImageRendererTests {
    private let motif = Array(1...12)

    private static let stills: [(String, MediaFormat)] = {
        let converted: [(String, MediaFormat)] = Sample.convertedStills.compactMap { sample in
            sample.format.flatMap(MediaFormat.init(rawValue:)).map { (sample.file, $0) }
        }
        return converted.filter { $0.1 != .icon }
            + [("grid.jpg", .jpeg), ("grid.png", .png), ("cmyk.jpg", .jpeg), ("grid.gif", .gif)]
    }()

    @Test(arguments: stills)
    func `Every still format gives the same thumbnail`(name: String, format: MediaFormat) throws {
        let still = try RenderedStill(StillFixture.sample(name), format: format)
        #expect(still.media.thumbnail?.width == 300 && still.media.thumbnail?.height == 225)
        let distance = try ImageDistance(
            still.image(.thumbnail), TestImage(decoding: StillFixture.sample("grid.png")))
        // The CMYK sample has lost its brightest colors.
        #expect(distance.mean < (name == "cmyk.jpg" ? 12 : 3), "\(distance)")
    }

    @Test(arguments: Orientation.allCases) func `An image is rotated upright for every EXIF orientation`(
        orientation: Orientation
    )
        throws
    {
        let names = [
            "TopLeft", "TopRight", "BottomRight", "BottomLeft", "LeftTop", "RightTop", "RightBottom", "LeftBottom",
        ]
        // The inverse of each orientation, so that the upright image is the motif.
        let undo: [[String]] = [
            [], ["-flop"], ["-rotate", "180"], ["-flip"], ["-transpose"], ["-rotate", "270"], ["-transverse"],
            ["-rotate", "90"],
        ]
        let index = orientation.rawValue - 1
        let file = try StillFixture.converted("o.tiff", undo[index] + ["-orient", names[index]])
        let still = try RenderedStill(file, format: .tiff, reencodes: true)
        #expect(still.media.attachment?.width == 800 && still.media.attachment?.height == 600)
        #expect(SampleMotif.cells(in: try still.image(.thumbnail)) == motif)
        #expect(SampleMotif.cells(in: try still.image(.attachment)) == motif)
    }

    @Test(arguments: [
        ("d16.png", ["-depth", "16"]), ("palette.png", ["-colors", "64"]), ("interlaced.png", ["-interlace", "PNG"]),
        ("progressive.jpg", ["-interlace", "JPEG"]),
    ])
    func `Bit depth, palette and interlacing do not change the result`(name: String, arguments: [String]) throws {
        let file = try StillFixture.converted(name, arguments)
        let still = try RenderedStill(file, format: name.hasSuffix("jpg") ? .jpeg : .png)
        #expect(SampleMotif.cells(in: try still.image(.thumbnail)) == motif)
    }

    @Test func `Gray stays gray`() throws {
        let file = try StillFixture.converted("gray.png", ["-colorspace", "Gray"])
        let color = try RenderedStill(file, format: .png).image(.thumbnail).color(atUnitX: 0.05, y: 0.1)
        // The YCbCr to RGB conversion of ffmpeg tints gray by a few steps.
        #expect(abs(color.red - color.green) < 5 && abs(color.green - color.blue) < 5)
    }

    @Test func `A transparent image becomes a PNG, and one with an opaque alpha channel a JPEG`() throws {
        let transparent = try RenderedStill(StillFixture.sample("transparent.webp"), format: .webp, reencodes: true)
        #expect(transparent.media.attachment?.type == .png && transparent.media.thumbnail?.type == .png)
        #expect(try transparent.image(.thumbnail).alpha(atUnitX: 0.5, y: 0.5) < 5)
        let opaque = try StillFixture.converted("opaque.tiff", ["-alpha", "set"])
        #expect(try RenderedStill(opaque, format: .tiff, reencodes: true).media.attachment?.type == .jpeg)
    }

    @Test func `An encoded JPEG begins with a JFIF header and has no metadata`() throws {
        let heic = StillFixture.sample("grid.heic")
        let bytes = try RenderedStill(heic, format: .heic, reencodes: true).bytes(.attachment)
        #expect(bytes.starts(with: [0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10, 0x4A, 0x46, 0x49, 0x46, 0x00]))
        #expect(bytes.firstRange(of: Array("Exif".utf8)) == nil)
        #expect(bytes.firstRange(of: Array("ICC_PROFILE".utf8)) == nil)
    }

    @Test func `A crop has full resolution, and the thumbnail is made from it`() throws {
        // Cells 6, 7, 10 and 11 of the grid.
        let rect = try ClippingRect(x: 0.25, y: 1.0 / 3, width: 0.5, height: 2.0 / 3)
        for (name, format) in [("grid.jpg", MediaFormat.jpeg), ("grid.webp", .webp)] {
            let still = try RenderedStill(StillFixture.sample(name), format: format, crop: rect)
            #expect(still.media.crop?.width == 400 && still.media.crop?.height == 400)
            #expect(SampleMotif.cells(in: try still.image(.crop), columns: 2, rows: 2) == [6, 7, 10, 11])
            #expect(SampleMotif.cells(in: try still.image(.thumbnail), columns: 2, rows: 2) == [6, 7, 10, 11])
        }
    }

    @Test func `A crop of a rotated image applies to the upright image`() throws {
        let rect = try ClippingRect(x: 0, y: 0, width: 0.25, height: 1.0 / 3)
        let file = try StillFixture.converted("rotated.tiff", ["-rotate", "270", "-orient", "RightTop"])
        let still = try RenderedStill(file, format: .tiff, crop: rect)
        #expect(SampleMotif.cells(in: try still.image(.crop), columns: 1, rows: 1) == [1])
    }

    @Test func `Cover fills the box, contain stays inside it, and nothing is enlarged`() throws {
        let grid = StillFixture.sample("grid.png")
        let cover = try RenderedStill(grid, format: .png, fit: .cover).media.thumbnail
        #expect(cover?.width == 300 && cover?.height == 300)
        let large = try RenderedStill(grid, format: .png, side: 2000).media.thumbnail
        #expect(large?.width == 800 && large?.height == 600)
        let wide = try RenderedStill(grid, format: .png, fit: .cover, side: 700).media.thumbnail
        #expect(wide?.width == 700 && wide?.height == 600)
    }

    @Test(arguments: [10, 50, 90, 99]) func `A truncated still is corrupt`(percent: Int) throws {
        let files: [(String, MediaFormat)] = [
            ("grid.jpg", .jpeg), ("grid.png", .png), ("grid.webp", .webp), ("grid.heic", .heic), ("grid.avif", .avif),
            ("grid.bmp", .bmp), ("grid.gif", .gif), ("grid.tiff", .tiff),
        ]
        for (name, format) in files {
            let file = try GeneratedMedia.cut(URL(fileURLWithPath: StillFixture.sample(name)), percent: percent)
            let error = #expect(throws: AttachPrepError.self, "\(name)") {
                try Self.inspectAndRender(file.path, format)
            }
            #expect(error?.code == .mediaCorrupt, "\(name) \(error?.description ?? "")")
        }
    }

    private static func inspectAndRender(_ file: String, _ format: MediaFormat) throws {
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        _ = try MediaProcessor().perform(
            .inspect(InspectRequest(format: format, decodesStills: false)), descriptors: [descriptor],
            deadline: .now + .seconds(60))
        _ = try RenderedStill(file, format: format)
    }

    @Test func `A still over its limit loses quality first, with a reduction`() throws {
        var request = RenderRequest(format: .tiff, frameSelection: .still)
        request.attachment = .still(StillRendition(bytesMax: 36_000))
        let still = try RenderedStill(StillFixture.sample("grid.tiff"), request)
        let attachment = try #require(still.media.attachment)
        #expect(attachment.bytes <= 36_000 && attachment.width == 800)
        #expect(still.media.reductions.count == 1)
        #expect(SampleMotif.cells(in: try still.image(.attachment)) == motif)
    }

    @Test func `A still far over its limit is also reduced in size`() throws {
        var request = RenderRequest(format: .png, frameSelection: .still)
        request.attachment = .still(StillRendition(bytesMax: 8_000))
        let attachment = try #require(try RenderedStill(StillFixture.sample("grid.png"), request).media.attachment)
        #expect(attachment.bytes <= 8_000 && attachment.width ?? 0 < 800)
    }

    @Test(arguments: [0, 5, 11]) func `The requested frame of an animation is rendered`(number: Int) throws {
        let still = try RenderedStill(
            StillFixture.sample("counter.gif"), format: .gif, frameSelection: .animationFrame(number))
        #expect(SampleMotif.frameNumber(in: try still.image(.thumbnail)) == number)
    }

    @Test(arguments: [(640, 480, 300, 225), (100, 100, 300, 225), (0, 0, 300, 225)])
    func `A GIF is drawn on its declared canvas unless its first frame is larger`(
        width: Int, height: Int, shownWidth: Int, shownHeight: Int
    ) throws {
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: StillFixture.sample("counter.gif"))))
        bytes.replaceSubrange(6..<10, with: [width & 255, width >> 8, height & 255, height >> 8].map(UInt8.init))
        let file = try GeneratedMedia.file("canvas.gif", bytes: bytes)
        let still = try RenderedStill(file.path, format: .gif, frameSelection: .animationFrame(6))
        #expect(still.media.thumbnail?.width == shownWidth && still.media.thumbnail?.height == shownHeight)
        if width == 640 { #expect(try still.image(.thumbnail).alpha(atUnitX: 0.75, y: 0.75) < 5) }
    }
}

struct ThumbnailGeometryTests {
    struct Case: Sendable {
        let image: (Int, Int)
        let box: (Int, Int)
        let fit: ThumbnailFit
        let size: (Int, Int)
        let cut: PixelRect?
    }

    static let cases: [Case] = [
        Case(image: (1200, 800), box: (300, 300), fit: .contain, size: (300, 200), cut: nil),
        Case(image: (800, 1200), box: (300, 300), fit: .contain, size: (200, 300), cut: nil),
        Case(image: (100, 80), box: (300, 300), fit: .contain, size: (100, 80), cut: nil),
        Case(
            image: (1200, 800), box: (300, 300), fit: .cover, size: (450, 300),
            cut: PixelRect(left: 75, top: 0, width: 300, height: 300)),
        Case(
            image: (400, 100), box: (300, 300), fit: .cover, size: (400, 100),
            cut: PixelRect(left: 50, top: 0, width: 300, height: 100)),
        Case(image: (5000, 4), box: (300, 300), fit: .contain, size: (300, 1), cut: nil),
        Case(image: (1, 1), box: (300, 300), fit: .cover, size: (1, 1), cut: nil),
    ]

    @Test(arguments: cases) func `A thumbnail fits or fills its box`(row: Case) {
        let geometry = ThumbnailGeometry(
            imageWidth: row.image.0, imageHeight: row.image.1,
            box: ThumbnailRendition(width: row.box.0, height: row.box.1, fit: row.fit))
        #expect((geometry.width, geometry.height) == row.size)
        #expect(geometry.cut == row.cut)
    }
}

struct JFIFHeaderTests {
    @Test func `A JFIF header is inserted after SOI, and only once`() {
        let bare: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDB, 0x00]
        let once = JFIFHeader.withHeader(bare)
        #expect(once.starts(with: [0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10]) && once.count == bare.count + 18)
        #expect(once.suffix(3) == bare.suffix(3))
        #expect(JFIFHeader.withHeader(once) == once)
    }
}
