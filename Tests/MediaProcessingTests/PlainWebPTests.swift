import Glibc
import JPEG
import MediaEngine
import RichPush
import TestSupport
import Testing

@testable import MediaProcessing
@testable import Vips

/// What we read ourselves has to look as libvips shows it.
@Suite struct PlainWebPTests {
    private static func decoded(_ file: String, deadline: ContinuousClock.Instant? = nil) throws -> Image? {
        try VipsLibrary.start()
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        return try WebPStillDecoder.decode(source: descriptor, deadline: deadline ?? .now + .seconds(60))?.picture()
    }

    private static func shownByLibvips(_ file: String) throws -> Image {
        try VipsLibrary.start()
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        return try Image.open(descriptor: descriptor).upright().inSRGB().inMemory()
    }

    /// Both at a quarter of their size, since libvips' chroma is enlarged smoothly: that is seen between colours.
    private static func difference(_ ours: Image, _ theirs: Image) throws -> Double {
        #expect([ours.width, ours.height] == [theirs.width, theirs.height])
        let (width, height) = (max(1, ours.width / 4), max(1, ours.height / 4))
        return try ours.stretched(width: width, height: height).inMemory()
            .meanSquaredDifference(from: theirs.stretched(width: width, height: height).inMemory())
    }

    /// A part that is turned, moved or coloured otherwise is hundreds.
    private static let rounding = 2.0

    @Test(arguments: [(800, 600), (397, 295), (31, 600), (2, 2)])
    func `a plain WebP looks as libvips shows it`(width: Int, height: Int) throws {
        let crop = ["-crop", "\(width)x\(height)+0+0", "+repage"]
        let file = try StillFixture.converted("plain.webp", crop + ["-quality", "90"])
        let ours = try #require(try Self.decoded(file))
        let difference = try Self.difference(ours, Self.shownByLibvips(file))
        #expect(difference < Self.rounding, "\(difference)")
    }

    @Test(arguments: Orientation.allCases, [true, false])
    func `EXIF stands it upright, with and without the name that it has in a JPEG`(
        orientation: Orientation, isNamed: Bool
    ) throws {
        var webP = try WrittenWebP()
        webP.flags = 0x08
        let block = (isNamed ? MediaBytes.text("Exif\0\0") : []) + WrittenWebP.exif(orientation.rawValue)
        webP.behind = [WrittenWebP.chunk("EXIF", block)]
        let file = try webP.file()
        let ours = try #require(try Self.decoded(file))
        let difference = try Self.difference(ours, Self.shownByLibvips(file))
        #expect(difference < Self.rounding, "\(difference)")
        #expect([ours.width, ours.height] == (orientation.swapsSides ? [600, 800] : [800, 600]))
    }

    @Test func `a profile of sRGB, XMP and what follows the end change nothing`() throws {
        var webP = try WrittenWebP()
        let simple = try #require(try Self.decoded(webP.file()))
        webP.flags = 0x24
        webP.before = [WrittenWebP.chunk("ICCP", try WrittenWebP.profile("srgb"))]
        webP.behind = [WrittenWebP.chunk("XMP ", MediaBytes.text("<x:xmpmeta/>"))]
        webP.more = MediaBytes.text("more")
        let file = try webP.file()
        let ours = try #require(try Self.decoded(file))
        #expect(try ours.meanSquaredDifference(from: simple) == 0)
        let difference = try Self.difference(ours, Self.shownByLibvips(file))
        #expect(difference < Self.rounding, "\(difference)")
    }

    enum Oddity: CaseIterable {
        case displayP3, otherCanvas, alphaSaid, animationSaid, unknownChunk, secondPicture, exifMissing, exifUnsaid
        case exifBroken, profileBehind, turnedOdd, cut, overwrittenHeader, metadataWithoutHeader

        func written() throws -> WrittenWebP {
            var webP = try WrittenWebP()
            switch self {
            case .displayP3:
                webP.flags = 0x20
                webP.before = [WrittenWebP.chunk("ICCP", try WrittenWebP.profile("p3"))]
            case .otherCanvas: (webP.flags, webP.canvasWidth) = (0, 801)
            case .alphaSaid: webP.flags = 0x10
            case .animationSaid: webP.flags = 0x02
            case .unknownChunk: (webP.flags, webP.behind) = (0, [WrittenWebP.chunk("ABCD", [1, 2])])
            case .secondPicture: (webP.flags, webP.behind) = (0, [WrittenWebP.chunk("VP8 ", webP.picture)])
            case .exifMissing: webP.flags = 0x08
            case .exifUnsaid: (webP.flags, webP.behind) = (0, [WrittenWebP.chunk("EXIF", WrittenWebP.exif(6))])
            case .exifBroken: (webP.flags, webP.behind) = (0x08, [WrittenWebP.chunk("EXIF", [1, 2, 3])])
            case .profileBehind:
                webP.flags = 0x20
                webP.behind = [WrittenWebP.chunk("ICCP", try WrittenWebP.profile("srgb"))]
            case .turnedOdd:
                let odd = try StillFixture.converted("odd.webp", ["-crop", "397x295+0+0", "+repage", "-strip"])
                webP.picture = try WrittenWebP.picture(of: odd)
                (webP.flags, webP.canvasWidth, webP.canvasHeight) = (0x08, 397, 295)
                webP.behind = [WrittenWebP.chunk("EXIF", WrittenWebP.exif(6))]
            case .cut: webP.picture = Array(webP.picture.prefix(webP.picture.count / 2))
            case .overwrittenHeader: webP.picture[3] = 0
            case .metadataWithoutHeader: webP.before = [WrittenWebP.chunk("XMP ", [1, 2])]
            }
            return webP
        }
    }

    @Test(arguments: Oddity.allCases) func `what is not plain is left to libvips`(oddity: Oddity) throws {
        #expect(try Self.decoded(oddity.written().file()) == nil)
    }

    @Test(arguments: ["transparent.webp", "counter.webp"]) func `alpha and animations are left to libvips`(
        name: String
    ) throws {
        #expect(try Self.decoded(StillFixture.sample(name)) == nil)
    }

    @Test func `a picture without loss is left to libvips`() throws {
        let file = try StillFixture.converted("lossless.webp", ["-define", "webp:lossless=true"])
        #expect(try Self.decoded(file) == nil)
    }

    @Test func `a chunk that reaches beyond the file is a fault of the file`() throws {
        var bytes = try WrittenWebP().bytes
        bytes[16] = 0xFF
        #expect(throws: AttachPrepError.self) { try PlainWebP(ByteWindow(bytes: bytes, noun: "WebP")) }
        #expect(throws: AttachPrepError.self) {
            try PlainWebP(ByteWindow(bytes: Array(bytes.dropLast(100)), noun: "WebP"))
        }
    }

    @Test func `an attachment stores chroma as the source does`() throws {
        var webP = try WrittenWebP()
        webP.flags = 0x08
        webP.behind = [WrittenWebP.chunk("EXIF", WrittenWebP.exif(6))]
        let rendered = try RenderedStill(webP.file(), format: .webp, anew: true)
        let jpeg = try rendered.bytes(.attachment)
        let frame = try #require(jpeg.indices.first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 })
        #expect(jpeg[frame + 11] == 0x22)
        #expect(jpeg.starts(with: [0xFF, 0xD8, 0xFF, 0xE0]))
        let thumbnail = try #require(rendered.media.thumbnail)
        #expect([thumbnail.width, thumbnail.height] == [225, 300])
        let distance = try PictureDistance(rendered.picture(.thumbnail), rendered.picture(.attachment))
        #expect(distance.mean < 3 && distance.blockMax < 15, "\(distance)")
    }

    @Test func `attachment and thumbnail look as the picture that was encoded`() throws {
        let rendered = try RenderedStill(StillFixture.sample("grid.webp"), format: .webp, anew: true)
        let grid = try TestPicture(decoding: StillFixture.sample("grid.png"))
        for output in [RenderOutput.attachment, .thumbnail] {
            let distance = try PictureDistance(rendered.picture(output), grid)
            #expect(distance.mean < 3, "\(output) \(distance)")
        }
    }

    @Test func `no time left is the deadline's, not the file's`() throws {
        let file = try WrittenWebP().file()
        let error = #expect(throws: AttachPrepError.self) { try Self.decoded(file, deadline: .now) }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test(arguments: [
        (pixels: 12_000_000, codedBytes: 8_000_000, isHeld: true), (50_000_000, 50_000_000, true),
        (60_000_000, 1_000, false), (50_000_000, 90_000_000, false),
    ])
    func `what would not fit into memory is left to libvips, which reduces`(
        _ row: (pixels: Int, codedBytes: Int, isHeld: Bool)
    ) {
        #expect(DecodingMemory.holdsComponents(pixels: row.pixels, codedBytes: row.codedBytes) == row.isHeld)
    }

    @Test func `numbers of television's range are spread to a JPEG's`() {
        let all = (0...255).map { UInt8($0) }
        let spread = SampleRange.full(
            [1, 2, 3].map { _ in JPEGPlane(width: 256, height: 1, samples: all) }
        ).map(\.samples)
        func rounded(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }
        #expect(spread[0] == all.map { rounded(Double(Int($0) - 16) * 255 / 219) })
        #expect(spread[1] == all.map { rounded(Double(Int($0) - 128) * 255 / 224 + 128) })
        #expect(spread[2] == spread[1])
    }
}
