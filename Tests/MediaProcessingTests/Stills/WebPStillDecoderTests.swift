import Glibc
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaLibraries
@testable import MediaProcessing

/// The WebP decoder gives the same images as libvips.
@Suite struct WebPStillDecoderTests {
    private static func decoded(_ file: String, deadline: ContinuousClock.Instant? = nil) throws -> Image? {
        try VipsLibrary.start()
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        return try WebPStillDecoder.decode(source: descriptor, deadline: deadline ?? .now + .seconds(60))?.image()
    }

    private static func renderedByLibvips(_ file: String) throws -> Image {
        try VipsLibrary.start()
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        return try Image.open(descriptor: descriptor).upright().inSRGB().inMemory()
    }

    /// Compares both at a quarter of their size, since libvips upsamples chroma smoothly, which shows between colors.
    private static func difference(_ decoded: Image, _ reference: Image) throws -> Double {
        #expect([decoded.width, decoded.height] == [reference.width, reference.height])
        let (width, height) = (max(1, decoded.width / 4), max(1, decoded.height / 4))
        return try decoded.stretched(width: width, height: height).inMemory()
            .meanSquaredDifference(from: reference.stretched(width: width, height: height).inMemory())
    }

    /// A part that is rotated, moved or of another color gives hundreds.
    private static let rounding = 2.0

    @Test(arguments: [(800, 600), (397, 295), (31, 600), (2, 2)])
    func `A plain WebP looks as libvips renders it`(width: Int, height: Int) throws {
        let crop = ["-crop", "\(width)x\(height)+0+0", "+repage"]
        let file = try StillFixture.converted("plain.webp", crop + ["-quality", "90"])
        let decoded = try #require(try Self.decoded(file))
        let difference = try Self.difference(decoded, Self.renderedByLibvips(file))
        #expect(difference < Self.rounding, "\(difference)")
    }

    @Test(arguments: Orientation.allCases, [true, false])
    func `The EXIF orientation is applied, with and without the prefix used in JPEGs`(
        orientation: Orientation, hasJPEGPrefix: Bool
    ) throws {
        var webP = try SyntheticWebP()
        webP.flags = 0x08
        let block = (hasJPEGPrefix ? MediaBytes.text("Exif\0\0") : []) + SyntheticWebP.exif(orientation.rawValue)
        webP.after = [SyntheticWebP.chunk("EXIF", block)]
        let file = try webP.file()
        let decoded = try #require(try Self.decoded(file))
        let difference = try Self.difference(decoded, Self.renderedByLibvips(file))
        #expect(difference < Self.rounding, "\(difference)")
        #expect([decoded.width, decoded.height] == (orientation.swapsSides ? [600, 800] : [800, 600]))
    }

    @Test func `An sRGB profile, XMP and trailing bytes change nothing`() throws {
        var webP = try SyntheticWebP()
        let simple = try #require(try Self.decoded(webP.file()))
        webP.flags = 0x24
        webP.before = [SyntheticWebP.chunk("ICCP", try SyntheticWebP.profile("srgb"))]
        webP.after = [SyntheticWebP.chunk("XMP ", MediaBytes.text("<x:xmpmeta/>"))]
        webP.trailer = MediaBytes.text("trailer")
        let file = try webP.file()
        let decoded = try #require(try Self.decoded(file))
        #expect(try decoded.meanSquaredDifference(from: simple) == 0)
        let difference = try Self.difference(decoded, Self.renderedByLibvips(file))
        #expect(difference < Self.rounding, "\(difference)")
    }

    enum Variant: CaseIterable {
        case displayP3, wrongCanvas, alphaFlag, animationFlag, unknownChunk, secondImage, missingEXIF, exifWithoutFlag
        case invalidEXIF, profileAfterImage, rotatedOddSize, truncated, overwrittenHeader, metadataWithoutHeader

        func written() throws -> SyntheticWebP {
            var webP = try SyntheticWebP()
            switch self {
            case .displayP3:
                webP.flags = 0x20
                webP.before = [SyntheticWebP.chunk("ICCP", try SyntheticWebP.profile("p3"))]
            case .wrongCanvas: (webP.flags, webP.canvasWidth) = (0, 801)
            case .alphaFlag: webP.flags = 0x10
            case .animationFlag: webP.flags = 0x02
            case .unknownChunk: (webP.flags, webP.after) = (0, [SyntheticWebP.chunk("ABCD", [1, 2])])
            case .secondImage: (webP.flags, webP.after) = (0, [SyntheticWebP.chunk("VP8 ", webP.image)])
            case .missingEXIF: webP.flags = 0x08
            case .exifWithoutFlag: (webP.flags, webP.after) = (0, [SyntheticWebP.chunk("EXIF", SyntheticWebP.exif(6))])
            case .invalidEXIF: (webP.flags, webP.after) = (0x08, [SyntheticWebP.chunk("EXIF", [1, 2, 3])])
            case .profileAfterImage:
                webP.flags = 0x20
                webP.after = [SyntheticWebP.chunk("ICCP", try SyntheticWebP.profile("srgb"))]
            case .rotatedOddSize:
                let odd = try StillFixture.converted("odd.webp", ["-crop", "397x295+0+0", "+repage", "-strip"])
                webP.image = try SyntheticWebP.image(of: odd)
                (webP.flags, webP.canvasWidth, webP.canvasHeight) = (0x08, 397, 295)
                webP.after = [SyntheticWebP.chunk("EXIF", SyntheticWebP.exif(6))]
            case .truncated: webP.image = Array(webP.image.prefix(webP.image.count / 2))
            case .overwrittenHeader: webP.image[3] = 0
            case .metadataWithoutHeader: webP.before = [SyntheticWebP.chunk("XMP ", [1, 2])]
            }
            return webP
        }
    }

    @Test(arguments: Variant.allCases)
    func `A file with an unusual structure is left to libvips`(variant: Variant) throws {
        #expect(try Self.decoded(variant.written().file()) == nil)
    }

    @Test(arguments: ["transparent.webp", "counter.webp"]) func `Alpha and animations are left to libvips`(
        name: String
    ) throws {
        #expect(try Self.decoded(StillFixture.sample(name)) == nil)
    }

    @Test func `A lossless image is left to libvips`() throws {
        let file = try StillFixture.converted("lossless.webp", ["-define", "webp:lossless=true"])
        #expect(try Self.decoded(file) == nil)
    }

    @Test func `A chunk that extends beyond the file is an error`() throws {
        var bytes = try SyntheticWebP().bytes
        bytes[16] = 0xFF
        #expect(throws: AttachPrepError.self) { try PlainWebP(ByteWindow(bytes: bytes, noun: "WebP")) }
        #expect(throws: AttachPrepError.self) {
            try PlainWebP(ByteWindow(bytes: Array(bytes.dropLast(100)), noun: "WebP"))
        }
    }

    @Test func `An attachment keeps the chroma subsampling of the source`() throws {
        var webP = try SyntheticWebP()
        webP.flags = 0x08
        webP.after = [SyntheticWebP.chunk("EXIF", SyntheticWebP.exif(6))]
        let rendered = try RenderedStill(webP.file(), format: .webp, reencodes: true)
        let jpeg = try rendered.bytes(.attachment)
        let frame = try #require(jpeg.indices.first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 })
        #expect(jpeg[frame + 11] == 0x22)
        #expect(jpeg.starts(with: [0xFF, 0xD8, 0xFF, 0xE0]))
        let thumbnail = try #require(rendered.media.thumbnail)
        #expect([thumbnail.width, thumbnail.height] == [225, 300])
        let distance = try ImageDistance(rendered.image(.thumbnail), rendered.image(.attachment))
        #expect(distance.mean < 3 && distance.blockMax < 15, "\(distance)")
    }

    @Test func `Attachment and thumbnail look like the image that was encoded`() throws {
        let rendered = try RenderedStill(StillFixture.sample("grid.webp"), format: .webp, reencodes: true)
        let grid = try TestImage(decoding: StillFixture.sample("grid.png"))
        for output in [RenderOutput.attachment, .thumbnail] {
            let distance = try ImageDistance(rendered.image(output), grid)
            #expect(distance.mean < 3, "\(output) \(distance)")
        }
    }

    @Test func `A passed deadline fails with deadline exceeded, not as corrupt`() throws {
        let file = try SyntheticWebP().file()
        let error = #expect(throws: AttachPrepError.self) { try Self.decoded(file, deadline: .now) }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test(arguments: [
        (pixels: 12_000_000, codedBytes: 8_000_000, fits: true), (50_000_000, 50_000_000, true),
        (60_000_000, 1_000, false), (50_000_000, 90_000_000, false),
    ])
    func `An image that does not fit in memory is left to libvips`(
        _ row: (pixels: Int, codedBytes: Int, fits: Bool)
    ) {
        #expect(DecodingMemory.holdsComponents(pixels: row.pixels, codedBytes: row.codedBytes) == row.fits)
    }
}
