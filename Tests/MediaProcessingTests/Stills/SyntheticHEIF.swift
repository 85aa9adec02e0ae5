import Foundation
import MediaTypes
import TestSupport

@testable import MediaProcessing

/// A HEIF built around the coded image of a sample: as a grid of it, rotated, mirrored, or in other colors.
struct SyntheticHEIF {
    /// The coded image is 800 x 600.
    static let (tileWidth, tileHeight) = (800, 600)

    let format: MediaFormat
    /// The file that the coded image is from.
    var sample: String
    /// Tiles; a grid if there is more than one.
    var (columns, rows) = (1, 1)
    /// Pixels at the right and lower edge of the grid that are not shown.
    var (cutRight, cutBelow) = (0, 0)
    /// Additional property boxes of the shown image, in order.
    var properties: [[UInt8]] = []
    /// Changes the coded image.
    var damage: ([UInt8]) -> [UInt8] = { $0 }
    /// The item number of the first tile that the grid refers to; nil for the right one.
    var firstTile: Int?

    init(_ format: MediaFormat) {
        self.format = format
        sample = StillFixture.sample(format == .avif ? "grid.avif" : "grid.heic")
    }

    /// An AVIF of limited range: the AVIF sample has full range, the HEIC sample limited range.
    static func limitedRangeAVIF() throws -> String {
        let arguments =
            "-vf scale=out_range=tv:out_color_matrix=bt601 -pix_fmt yuv420p -color_range tv "
            + "-colorspace smpte170m -c:v libaom-av1 -still-picture 1 -crf 20 -cpu-used 6"
        let source = ["-i", StillFixture.sample("grid.png")]
        return try GeneratedMedia.file(
            "limited-range.avif", source + arguments.split(separator: " ").map(String.init)
        ).path
    }

    static func irot(_ quarters: UInt8) -> [UInt8] { MediaBytes.box("irot", [quarters]) }
    /// A crop; the offsets are those of its middle from the middle of the image.
    static func clap(width: Int, height: Int, right: Int, down: Int) -> [UInt8] {
        let numbers = [width, height, right, down].flatMap { number in
            MediaBytes.bigEndian(Int(UInt32(bitPattern: Int32(number))), 4) + MediaBytes.bigEndian(1, 4)
        }
        return MediaBytes.box("clap", numbers)
    }

    static func imir(_ axis: UInt8) -> [UInt8] { MediaBytes.box("imir", [axis]) }

    static func nclx(primaries: Int = 1, transfer: Int = 13, matrix: Int, isFullRange: Bool) -> [UInt8] {
        let numbers = [primaries, transfer, matrix].flatMap { MediaBytes.bigEndian($0, 2) }
        return MediaBytes.box("colr", MediaBytes.text("nclx") + numbers + [isFullRange ? 0x80 : 0])
    }

    /// Display P3, from libvips.
    static func displayP3() throws -> [UInt8] {
        let jpeg = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-p3.jpg").path
        try GeneratedMedia.run("vips", ["jpegsave", StillFixture.sample("grid.png"), jpeg, "--profile", "p3"])
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: jpeg)))
        let segments = try JPEGSegments.parse(ByteWindow(bytes: bytes, noun: "JPEG"))
        let profile = ICCProfile.joined(segments.profile.map { Array(bytes[$0]) }) ?? []
        return MediaBytes.box("colr", MediaBytes.text("prof") + profile)
    }

    /// Writes the file and returns its path.
    func file() throws -> String {
        try GeneratedMedia.file("written.\(format == .avif ? "avif" : "heic")", bytes: bytes()).path
    }

    func bytes() throws -> [UInt8] {
        let sample = try [UInt8](Data(contentsOf: URL(fileURLWithPath: self.sample)))
        let window = ByteWindow(bytes: sample, noun: "HEIF")
        guard let items = try HEIFItems(window), let extent = items.locations[items.primary]?.first,
            let configuration = items.property(format == .avif ? "av1C" : "hvcC", of: items.primary)
        else { throw GeneratedMedia.FixtureError(description: "unexpected sample") }
        let coded = damage(Array(sample[extent]))
        let brand = MediaBytes.text(format == .avif ? "avif" : "heic")
        let fileType = MediaBytes.box("ftyp", brand + MediaBytes.zeros(4) + MediaBytes.text("mif1") + brand)
        let properties = Array(sample[configuration])
        let length = meta(properties, coded.count, at: 0).count
        return fileType + meta(properties, coded.count, at: fileType.count + length + 8) + MediaBytes.box("mdat", coded)
    }

    private var count: Int { columns * rows }
    private var isGrid: Bool { count > 1 }
    private var shown: Int { isGrid ? count + 1 : 1 }
    private var width: Int { columns * Self.tileWidth - cutRight }
    private var height: Int { rows * Self.tileHeight - cutBelow }

    private func meta(_ configuration: [UInt8], _ length: Int, at offset: Int) -> [UInt8] {
        let handler = MediaBytes.fullBox("hdlr", MediaBytes.zeros(4) + MediaBytes.text("pict") + MediaBytes.zeros(13))
        let primary = MediaBytes.fullBox("pitm", MediaBytes.bigEndian(shown, 2))
        let grid =
            [0, 1, UInt8(rows - 1), UInt8(columns - 1)] + MediaBytes.bigEndian(width, 4)
            + MediaBytes.bigEndian(height, 4)
        let boxes = [
            handler, primary, list, described(configuration), isGrid ? references : [],
            isGrid ? MediaBytes.box("idat", grid) : [], locations(length, at: offset),
        ]
        return MediaBytes.fullBox("meta", boxes.flatMap { $0 })
    }

    private var list: [UInt8] {
        let coded = format == .avif ? "av01" : "hvc1"
        let kinds = (1...count).map { ($0, coded) } + (isGrid ? [(shown, "grid")] : [])
        let entries = kinds.map { item, type in
            MediaBytes.fullBox(
                "infe", MediaBytes.bigEndian(item, 2) + [0, 0] + MediaBytes.text(type) + [0], version: 2)
        }
        return MediaBytes.fullBox("iinf", MediaBytes.bigEndian(kinds.count, 2) + entries.flatMap { $0 })
    }

    private var references: [UInt8] {
        let first = firstTile ?? 1
        let tiles = (0..<count).flatMap { MediaBytes.bigEndian(first + $0, 2) }
        return MediaBytes.fullBox(
            "iref",
            MediaBytes.box("dimg", MediaBytes.bigEndian(shown, 2) + MediaBytes.bigEndian(count, 2) + tiles))
    }

    private func described(_ configuration: [UInt8]) -> [UInt8] {
        func size(_ width: Int, _ height: Int) -> [UInt8] {
            MediaBytes.fullBox("ispe", MediaBytes.bigEndian(width, 4) + MediaBytes.bigEndian(height, 4))
        }
        let depth = MediaBytes.fullBox("pixi", [3, 8, 8, 8])
        let fixed = [
            MediaBytes.box(format == .avif ? "av1C" : "hvcC", configuration), size(Self.tileWidth, Self.tileHeight),
            size(width, height), depth,
        ]
        let own = (0..<properties.count).map { UInt8($0 + 5) }
        let colors = properties.indices.filter { Array(properties[$0][4..<8]) == MediaBytes.text("colr") }
        var entries = (1...count).map { tile -> [UInt8] in
            let indexes: [UInt8] = isGrid ? [1, 2, 4] + colors.map { UInt8($0 + 5) } : [1, 2, 4] + own
            return MediaBytes.bigEndian(tile, 2) + [UInt8(indexes.count)] + indexes
        }
        if isGrid { entries.append(MediaBytes.bigEndian(shown, 2) + [UInt8(own.count + 2), 3, 4] + own) }
        let container = MediaBytes.box("ipco", (fixed + properties).flatMap { $0 })
        return MediaBytes.box(
            "iprp",
            container + MediaBytes.fullBox("ipma", MediaBytes.bigEndian(entries.count, 4) + entries.flatMap { $0 }))
    }

    private func locations(_ length: Int, at offset: Int) -> [UInt8] {
        func entry(_ item: Int, method: Int, _ start: Int, _ length: Int) -> [UInt8] {
            [item, method, 0, 1].flatMap { MediaBytes.bigEndian($0, 2) } + MediaBytes.bigEndian(start, 4)
                + MediaBytes.bigEndian(length, 4)
        }
        var entries = (1...count).flatMap { entry($0, method: 0, offset, length) }
        if isGrid { entries += entry(shown, method: 1, 0, 12) }
        return MediaBytes.fullBox(
            "iloc", [0x44, 0] + MediaBytes.bigEndian(isGrid ? count + 1 : 1, 2) + entries, version: 1)
    }
}
