import LibAV
import RichPush

/// A HEIF of the kind nearly all are, whose items we read ourselves: one picture of HEVC or AV1, or a grid of equal
/// ones, opaque, turned or mirrored at most.
///
/// What is not plain goes through libvips and libheif, which know the rest.
struct PlainHEIF {
    let codec: Decoder.StillCodec
    /// What the coded pictures share; empty for AV1, whose pictures have it with them.
    let configuration: [UInt8]
    let grid: HEIFGrid
    let tileWidth: Int
    let tileHeight: Int
    /// Where the bytes of each tile lie, row by row.
    let tiles: [HEIFPlaces.Place]
    let orientation: Orientation
    /// What is said of the picture, and of its tiles where nothing is.
    let profile: Range<Int>?
    let numbers: HEIFColour.Numbers?

    private static let configurationBytesMax = 65_536

    /// Nil for another kind.
    init?(_ window: ByteWindow) throws {
        guard let items = try HEIFItems(window), let kind = items.kinds[items.primary], !kind.isProtected,
            !Self.hasAlpha(items), let properties = items.properties[items.primary],
            let turn = try HEIFTurn(properties, window)
        else { return nil }
        orientation = turn.orientation
        let parts = kind.type == "grid" ? items.references["dimg"]?[items.primary] ?? [] : [items.primary]
        guard let first = parts.first, let size = try Self.size(of: first, items),
            let codec = Self.codec(items.kinds[first]), try Self.areAlike(parts, items, isGrid: kind.type == "grid")
        else { return nil }
        self.codec = codec
        (tileWidth, tileHeight) = size
        if kind.type == "grid" {
            guard let place = items.places[items.primary], place.count == 1 else { return nil }
            grid = try HEIFGrid(place[0], window)
        } else {
            grid = HEIFGrid(width: tileWidth, height: tileHeight)
        }
        // Bounded: rows and columns are at most 256.
        guard parts.count == grid.columns * grid.rows, parts.count <= Limits.heifTilesMax,
            grid.isCovered(byTilesOf: tileWidth, tileHeight), Self.canTurn(grid, orientation)
        else { return nil }
        let found = parts.compactMap { items.places[$0] }
        guard found.count == parts.count, found.allSatisfy({ !$0.isEmpty }) else { return nil }
        tiles = found
        let whole = try HEIFColour(properties, window)
        let ofTiles = try HEIFColour(items.properties[first] ?? [], window)
        profile = whole.profile ?? ofTiles.profile
        numbers = ofTiles.numbers ?? whole.numbers
        guard let configuration = try Self.configuration(of: first, codec, items) else { return nil }
        self.configuration = configuration
    }

    /// Pixels as displayed.
    var width: Int { orientation.swapsSides ? grid.height : grid.width }
    /// Pixels as displayed.
    var height: Int { orientation.swapsSides ? grid.width : grid.height }

    private static func codec(_ kind: HEIFItems.Kind?) -> Decoder.StillCodec? {
        switch kind?.type {
        case "hvc1": .hevc
        case "av01": .av1
        default: nil
        }
    }

    private static func configuration(of item: Int, _ codec: Decoder.StillCodec, _ items: HEIFItems) throws -> [UInt8]?
    {
        guard codec == .hevc else { return [] }
        guard let content = items.property("hvcC", of: item), content.count <= configurationBytesMax else { return nil }
        return try Array(items.window.whole(at: content.lowerBound, count: content.count))
    }

    private static func size(of item: Int, _ items: HEIFItems) throws -> (Int, Int)? {
        guard let content = items.property("ispe", of: item) else { return nil }
        var reader = try HEIFReader(fullBox: content, items.window)
        return (try reader.number(4), try reader.number(4))
    }

    /// Whether all parts are coded and shown in the same way, none of them turned for itself.
    private static func areAlike(_ parts: [Int], _ items: HEIFItems, isGrid: Bool) throws -> Bool {
        guard isGrid, let first = parts.first else { return true }
        let shaping: Set<String> = ["hvcC", "av1C", "ispe", "irot", "imir", "clap", "colr"]
        func shape(_ item: Int) -> [HEIFItems.Property] {
            (items.properties[item] ?? []).filter { shaping.contains($0.type) }
        }
        let known = shape(first)
        guard !known.contains(where: { ["irot", "imir", "clap"].contains($0.type) }) else { return false }
        // Each may have its own box that says the same; then libheif has the word.
        return parts.allSatisfy { items.kinds[$0] == items.kinds[first] && shape($0) == known }
    }

    /// Chroma of half the size does not lie evenly on an odd side, seen from its other end.
    private static func canTurn(_ grid: HEIFGrid, _ orientation: Orientation) -> Bool {
        orientation == .upright || (grid.width % 2 == 0 && grid.height % 2 == 0)
    }

    private static func hasAlpha(_ items: HEIFItems) -> Bool {
        (items.references["auxl"] ?? [:]).contains { from, to in
            to.contains(items.primary) && isAlpha(from, items)
        }
    }

    /// Depth and gain maps are auxiliary as well; what cannot be read may be alpha.
    private static func isAlpha(_ item: Int, _ items: HEIFItems) -> Bool {
        guard let content = items.property("auxC", of: item) else { return true }
        // Bounded: the content lies in the file.
        let name = try? items.window.characters(at: content.lowerBound + 4, count: min(64, content.count - 4))
        return name.map { $0.contains(":alpha") || $0.contains("auxid:1\0") || $0.hasSuffix("auxid:1") } ?? true
    }
}
