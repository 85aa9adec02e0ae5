import Glibc
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaLibraries
@testable import MediaProcessing

/// The HEIF decoder gives the same images as libheif.
@Suite struct HEIFDecoderTests {
    enum Form: CaseIterable {
        case plain, grid, rotated90, rotated180, rotated270, mirroredAcross, mirroredDown, rotatedAndMirrored
        case mirroredAndRotated, rotatedGrid, bt709Matrix, limitedRange

        var properties: [[UInt8]] {
            switch self {
            case .plain, .grid: []
            case .rotated90, .rotatedGrid: [SyntheticHEIF.irot(1)]
            case .rotated180: [SyntheticHEIF.irot(2)]
            case .rotated270: [SyntheticHEIF.irot(3)]
            case .mirroredAcross: [SyntheticHEIF.imir(0)]
            case .mirroredDown: [SyntheticHEIF.imir(1)]
            case .rotatedAndMirrored: [SyntheticHEIF.irot(1), SyntheticHEIF.imir(1)]
            case .mirroredAndRotated: [SyntheticHEIF.imir(0), SyntheticHEIF.irot(3)]
            case .bt709Matrix: [SyntheticHEIF.nclx(matrix: 1, isFullRange: true)]
            case .limitedRange: [SyntheticHEIF.nclx(matrix: 6, isFullRange: false)]
            }
        }

        func written(_ format: MediaFormat) throws -> SyntheticHEIF {
            var heif = SyntheticHEIF(format)
            if self == .limitedRange, format == .avif { heif.sample = try SyntheticHEIF.limitedRangeAVIF() }
            heif.properties = properties
            if self == .grid || self == .rotatedGrid {
                (heif.columns, heif.rows, heif.cutRight, heif.cutBelow) = (2, 2, 150, 34)
            }
            return heif
        }
    }

    private static func decoded(_ file: String, _ format: MediaFormat) throws -> Image? {
        try VipsLibrary.start()
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        switch try HEIFDecoder.decode(source: descriptor, format: format, deadline: .now + .seconds(60)) {
        case .components(let image): return try image.image()
        case .pixels(let frame):
            return try Image.wrap(
                pixels: frame.bytes, width: frame.width, height: frame.height, bands: frame.bands,
                orientation: frame.orientation.rawValue
            ).upright().inMemory()
        case nil: return nil
        }
    }

    private static func renderedByLibheif(_ file: String) throws -> Image {
        try VipsLibrary.start()
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        return try Image.open(descriptor: descriptor).upright().inSRGB().inMemory()
    }

    /// Half a step on average is rounding; a part that is rotated, moved or of another color gives hundreds.
    private static let rounding = 1.5

    @Test(arguments: Form.allCases, [MediaFormat.heic, .avif])
    func `A plain HEIF looks as libheif renders it`(form: Form, format: MediaFormat) throws {
        let file = try form.written(format).file()
        let decoded = try #require(try Self.decoded(file, format))
        let reference = try Self.renderedByLibheif(file)
        #expect([decoded.width, decoded.height] == [reference.width, reference.height])
        #expect(try decoded.meanSquaredDifference(from: reference) < Self.rounding)
    }

    /// libheif 1.15 rejects such files through libvips.
    @Test(arguments: [MediaFormat.heic, .avif], [[], [SyntheticHEIF.irot(1)]])
    func `A cropped HEIF shows its clean aperture, which is rotated afterwards`(
        format: MediaFormat, rotation: [[UInt8]]
    ) throws {
        var heif = SyntheticHEIF(format)
        heif.properties = rotation
        let whole = try #require(try Self.decoded(heif.file(), format))
        let wanted =
            rotation.isEmpty
            ? try whole.area(left: 300, top: 170, width: 300, height: 200)
            : try whole.area(left: 170, top: 200, width: 200, height: 300)
        heif.properties = [SyntheticHEIF.clap(width: 300, height: 200, right: 50, down: -30)] + rotation
        let decoded = try #require(try Self.decoded(heif.file(), format))
        #expect([decoded.width, decoded.height] == [wanted.width, wanted.height])
        #expect(try decoded.meanSquaredDifference(from: wanted) < Self.rounding)
    }

    @Test func `The limit of pixels is that of the whole image, however small its crop is`() throws {
        var heif = SyntheticHEIF(.heic)
        (heif.columns, heif.rows) = (16, 16)
        heif.properties = [SyntheticHEIF.clap(width: 300, height: 200, right: 0, down: 0)]
        let file = try heif.file()
        let error = #expect(throws: AttachPrepError.self) { try Self.decoded(file, .heic) }
        #expect(error?.code == .mediaTooManyPixels)
    }

    @Test func `A grid of more than 51 megapixels is shown at half its size`() throws {
        var heif = SyntheticHEIF(.heic)
        (heif.columns, heif.rows) = (12, 12)
        heif.properties = [SyntheticHEIF.irot(1)]
        let still = try RenderedStill(heif.file(), format: .heic, reencodes: true)
        #expect([still.media.attachment?.width, still.media.attachment?.height] == [3_600, 4_800])
        #expect(still.media.reductions.contains { $0.contains("to fit in memory") })
        heif.columns = 4
        let small = try RenderedStill(heif.file(), format: .heic, reencodes: true)
        #expect([small.media.attachment?.width, small.media.attachment?.height] == [7_200, 3_200])
    }

    @Test func `A crop after a rotation is one of the rotated image`() throws {
        var heif = SyntheticHEIF(.heic)
        heif.properties = [SyntheticHEIF.irot(1)]
        let whole = try #require(try Self.decoded(heif.file(), .heic))
        heif.properties.append(SyntheticHEIF.clap(width: 200, height: 300, right: -30, down: -50))
        let decoded = try #require(try Self.decoded(heif.file(), .heic))
        let wanted = try whole.area(left: 170, top: 200, width: 200, height: 300)
        #expect([decoded.width, decoded.height] == [200, 300])
        #expect(try decoded.meanSquaredDifference(from: wanted) < Self.rounding)
    }

    @Test func `A crop outside the image is left to libheif`() throws {
        for properties in [
            [SyntheticHEIF.clap(width: 900, height: 200, right: 0, down: 0)],
            [SyntheticHEIF.clap(width: 300, height: 200, right: 300, down: 0)],
            [SyntheticHEIF.clap(width: 0, height: 200, right: 0, down: 0)],
        ] {
            var heif = SyntheticHEIF(.heic)
            heif.properties = properties
            #expect(try Self.decoded(heif.file(), .heic) == nil)
        }
    }

    @Test(arguments: [MediaFormat.heic, .avif])
    func `Display P3 is converted to sRGB as lcms converts it`(format: MediaFormat) throws {
        var heif = SyntheticHEIF(format)
        heif.properties = [try SyntheticHEIF.displayP3()]
        let file = try heif.file()
        let decoded = try #require(try Self.decoded(file, format))
        let reference = try Self.renderedByLibheif(file)
        #expect(try decoded.meanSquaredDifference(from: reference) < 4)
        heif.properties = []
        let unmanaged = try #require(try Self.decoded(heif.file(), format))
        #expect(try unmanaged.meanSquaredDifference(from: reference) > 20)
    }

    @Test(arguments: [MediaFormat.heic, .avif])
    func `An image that contradicts its header is left to libheif`(format: MediaFormat) throws {
        var heif = SyntheticHEIF(format)
        heif.damage = { Array($0.prefix($0.count / 3)) }
        let truncated = try heif.file()
        #expect(throws: AttachPrepError.self) { try RenderedStill(truncated, format: format) }
        heif = SyntheticHEIF(format)
        (heif.columns, heif.firstTile) = (2, 2)
        #expect(try Self.decoded(heif.file(), format) == nil)
    }

    @Test func `A HEIF with alpha keeps it`() throws {
        let source = try StillFixture.converted(
            "clear.png", ["-alpha", "set", "-channel", "A", "-evaluate", "set", "40%", "-define", "png:color-type=6"])
        let file = GeneratedMedia.folder.appendingPathComponent("clear.heic").path
        try GeneratedMedia.run("heif-enc", [source, "-o", file])
        let pixels = try #require(try Self.decoded(file, .heic)).pixels()
        #expect(stride(from: 3, to: pixels.count, by: 4).allSatisfy { abs(Int(pixels[$0]) - 102) < 3 })
        #expect(try RenderedStill(file, format: .heic, reencodes: true).media.attachment?.type == .png)
    }

    @Test func `Ten bits per sample are rounded to eight`() throws {
        let source = try StillFixture.converted("deep.png", ["-depth", "16"])
        let file = GeneratedMedia.folder.appendingPathComponent("deep.heic").path
        try GeneratedMedia.run("heif-enc", ["-b", "10", source, "-o", file])
        let decoded = try #require(try Self.decoded(file, .heic))
        #expect(try decoded.meanSquaredDifference(from: Self.renderedByLibheif(file)) < Self.rounding)
    }

    @Test func `A grid with too many property associations is rejected`() throws {
        let entry = MediaBytes.bigEndian(1, 2) + [255] + MediaBytes.repeated([1], 255)
        let links = MediaBytes.fullBox("ipma", MediaBytes.bigEndian(400, 4) + MediaBytes.repeated(entry, 400))
        let parts = [
            MediaBytes.fullBox("pitm", [0, 1]), MediaBytes.fullBox("iinf", [0, 0]),
            MediaBytes.fullBox("iloc", [0x44, 0, 0, 0]),
            MediaBytes.box("iprp", MediaBytes.box("ipco", MediaBytes.box("irot", [0])) + links),
        ]
        let bytes = MediaBytes.fullBox("meta", parts.flatMap { $0 })
        #expect(throws: AttachPrepError.self) { try HEIFItems(ByteWindow(bytes: bytes, noun: "HEIF")) }
    }

    @Test(arguments: [MediaFormat.heic, .avif])
    func `An attachment keeps the chroma subsampling of the source`(format: MediaFormat) throws {
        let rendered = try RenderedStill(Form.rotatedGrid.written(format).file(), format: format, reencodes: true)
        let jpeg = try rendered.bytes(.attachment)
        let frame = try #require(jpeg.indices.first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 })
        #expect(jpeg[frame + 11] == 0x22)
        #expect(jpeg.starts(with: [0xFF, 0xD8, 0xFF, 0xE0]))
        let thumbnail = try #require(rendered.media.thumbnail)
        #expect([thumbnail.width, thumbnail.height] == [241, 300])
        let distance = try ImageDistance(rendered.image(.thumbnail), rendered.image(.attachment))
        #expect(distance.mean < 3 && distance.blockMax < 15, "\(distance)")
    }
}

@Suite struct HEIFReferenceValidatorTests {
    private static func derived(_ item: Int, from parts: [Int]) -> [UInt8] {
        MediaBytes.box(
            "dimg",
            MediaBytes.bigEndian(item, 2) + MediaBytes.bigEndian(parts.count, 2)
                + parts.flatMap { MediaBytes.bigEndian($0, 2) })
    }

    private static func check(_ references: [UInt8], followedBy tail: [UInt8] = []) throws {
        let meta = MediaBytes.fullBox("meta", MediaBytes.fullBox("iref", references))
        let bytes = MediaBytes.box("ftyp", MediaBytes.text("heic")) + meta + tail
        try HEIFReferenceValidator.check(ByteWindow(bytes: bytes, noun: "HEIF"))
    }

    private static func code(_ references: [UInt8]) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try check(references) }?.code
    }

    @Test func `A rotated grid of tiles is valid`() throws {
        try Self.check(Self.derived(1, from: [2]) + Self.derived(2, from: Array(3..<195)))
    }

    @Test func `An image without references is valid`() throws {
        try Self.check([])
        try HEIFReferenceValidator.check(
            ByteWindow(bytes: MediaBytes.box("ftyp") + MediaBytes.fullBox("meta"), noun: "HEIF"))
    }

    @Test(arguments: [[1], [2, 1], [2, 3, 1], [2, 3, 4, 2]]) func `A cyclic reference is corrupt`(chain: [Int]) {
        let links = zip([1] + chain, chain).flatMap { Self.derived($0, from: [$1]) }
        #expect(Self.code(links) == .mediaCorrupt)
    }

    @Test func `Nested grids are rejected as too many pixels`() {
        let links = (1...3).flatMap { Self.derived($0, from: [Int](repeating: $0 + 1, count: 256)) }
        #expect(Self.code(links) == .mediaTooManyPixels)
    }

    @Test func `A truncated reference list is corrupt`() {
        let short = MediaBytes.box("dimg", MediaBytes.bigEndian(1, 2) + MediaBytes.bigEndian(500, 2))
        #expect(Self.code(short) == .mediaCorrupt)
    }

    @Test func `Bytes after the boxes are ignored`() throws {
        try Self.check(Self.derived(1, from: [2]), followedBy: MediaBytes.text("vendor trailer"))
    }
}
