import Glibc
import MediaEngine
import RichPush
import TestSupport
import Testing

@testable import MediaProcessing
@testable import Vips

/// What we decode ourselves has to look as libheif shows it.
@Suite struct PlainHEIFTests {
    enum Form: CaseIterable {
        case plain, grid, turnedOnce, turnedTwice, turnedThrice, mirroredAcross, mirroredDown, turnedAndMirrored
        case mirroredAndTurned, turnedGrid, televisionMatrix, televisionRange

        var properties: [[UInt8]] {
            switch self {
            case .plain, .grid: []
            case .turnedOnce, .turnedGrid: [WrittenHEIF.irot(1)]
            case .turnedTwice: [WrittenHEIF.irot(2)]
            case .turnedThrice: [WrittenHEIF.irot(3)]
            case .mirroredAcross: [WrittenHEIF.imir(0)]
            case .mirroredDown: [WrittenHEIF.imir(1)]
            case .turnedAndMirrored: [WrittenHEIF.irot(1), WrittenHEIF.imir(1)]
            case .mirroredAndTurned: [WrittenHEIF.imir(0), WrittenHEIF.irot(3)]
            case .televisionMatrix: [WrittenHEIF.nclx(matrix: 1, isFullRange: true)]
            case .televisionRange: [WrittenHEIF.nclx(matrix: 6, isFullRange: false)]
            }
        }

        func written(_ format: MediaFormat) throws -> WrittenHEIF {
            var heif = WrittenHEIF(format)
            if self == .televisionRange, format == .avif { heif.sample = try WrittenHEIF.televisionAVIF() }
            heif.properties = properties
            if self == .grid || self == .turnedGrid {
                (heif.columns, heif.rows, heif.cutRight, heif.cutBelow) = (2, 2, 150, 34)
            }
            return heif
        }
    }

    private static func decoded(_ file: String, _ format: MediaFormat) throws -> Image? {
        try VipsLibrary.start()
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        return try HEIFDecoder.decode(source: descriptor, format: format, deadline: .now + .seconds(60))?.picture()
    }

    private static func shownByLibheif(_ file: String) throws -> Image {
        try VipsLibrary.start()
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        return try Image.open(descriptor: descriptor).upright().inSRGB().inMemory()
    }

    /// Half a step in the mean is rounding; a part that is turned, moved or coloured otherwise is hundreds.
    private static let rounding = 1.5

    @Test(arguments: Form.allCases, [MediaFormat.heic, .avif])
    func `a plain HEIF looks as libheif shows it`(form: Form, format: MediaFormat) throws {
        let file = try form.written(format).file()
        let ours = try #require(try Self.decoded(file, format))
        let theirs = try Self.shownByLibheif(file)
        #expect([ours.width, ours.height] == [theirs.width, theirs.height])
        #expect(try ours.meanSquaredDifference(from: theirs) < Self.rounding)
    }

    @Test(arguments: [MediaFormat.heic, .avif])
    func `Display P3 ends as sRGB, as lcms brings it there`(format: MediaFormat) throws {
        var heif = WrittenHEIF(format)
        heif.properties = [try WrittenHEIF.displayP3()]
        let file = try heif.file()
        let ours = try #require(try Self.decoded(file, format))
        let theirs = try Self.shownByLibheif(file)
        #expect(try ours.meanSquaredDifference(from: theirs) < 4)
        heif.properties = []
        let unmanaged = try #require(try Self.decoded(heif.file(), format))
        #expect(try unmanaged.meanSquaredDifference(from: theirs) > 20)
    }

    @Test(arguments: [MediaFormat.heic, .avif])
    func `a picture that is not as it was announced is left to libheif`(format: MediaFormat) throws {
        var heif = WrittenHEIF(format)
        heif.damage = { Array($0.prefix($0.count / 3)) }
        let cut = try heif.file()
        #expect(throws: AttachPrepError.self) { try RenderedStill(cut, format: format) }
        heif = WrittenHEIF(format)
        (heif.columns, heif.firstTile) = (2, 2)
        #expect(try Self.decoded(heif.file(), format) == nil)
    }

    @Test func `a HEIF with alpha keeps it`() throws {
        let source = try StillFixture.converted(
            "clear.png", ["-alpha", "set", "-channel", "A", "-evaluate", "set", "40%", "-define", "png:color-type=6"])
        let file = GeneratedMedia.folder.appendingPathComponent("clear.heic").path
        try GeneratedMedia.run("heif-enc", [source, "-o", file])
        #expect(try Self.decoded(file, .heic) == nil)
        #expect(try RenderedStill(file, format: .heic, anew: true).media.attachment?.type == .png)
    }

    @Test func `ten bits a sample are rounded to eight`() throws {
        let source = try StillFixture.converted("deep.png", ["-depth", "16"])
        let file = GeneratedMedia.folder.appendingPathComponent("deep.heic").path
        try GeneratedMedia.run("heif-enc", ["-b", "10", source, "-o", file])
        let ours = try #require(try Self.decoded(file, .heic))
        #expect(try ours.meanSquaredDifference(from: Self.shownByLibheif(file)) < Self.rounding)
    }

    @Test func `a grid with more links between items than any has is left alone`() throws {
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
    func `an attachment stores chroma as the source does`(format: MediaFormat) throws {
        let rendered = try RenderedStill(Form.turnedGrid.written(format).file(), format: format, anew: true)
        let jpeg = try rendered.bytes(.attachment)
        let frame = try #require(jpeg.indices.first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 })
        #expect(jpeg[frame + 11] == 0x22)
        #expect(jpeg.starts(with: [0xFF, 0xD8, 0xFF, 0xE0]))
        let thumbnail = try #require(rendered.media.thumbnail)
        #expect([thumbnail.width, thumbnail.height] == [241, 300])
        let distance = try PictureDistance(rendered.picture(.thumbnail), rendered.picture(.attachment))
        #expect(distance.mean < 3 && distance.blockMax < 15, "\(distance)")
    }
}
