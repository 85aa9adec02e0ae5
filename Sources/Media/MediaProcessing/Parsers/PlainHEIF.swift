import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// A HEIF of the most common kinds, whose items are parsed here: one HEVC or AV1 image, or a grid of equal ones, at
/// most with an alpha of the same size, cropped, rotated or mirrored. Items that are not shown decide nothing:
/// metadata, gain and depth maps.
///
/// All others are decoded by libvips and libheif.
struct PlainHEIF {
    let codec: Decoder.StillCodec
    /// The decoder configuration that the coded images share; empty for AV1, whose images contain it.
    let configuration: [UInt8]
    let grid: HEIFGrid
    let tileWidth: Int
    let tileHeight: Int
    /// The byte ranges of each tile, row by row.
    let tiles: [HEIFItemLocations.Extents]
    /// The part of the grid that is shown, before it is rotated.
    let aperture: HEIFAperture
    let orientation: Orientation
    /// Color properties of the image, or else of its tiles.
    let profile: Range<Int>?
    let codePoints: HEIFColorProperties.CodePoints?

    let items: HEIFItems
    /// The item of its alpha.
    private let alphaItem: Int?
    /// Whether its colors are multiplied by its alpha.
    let isPremultiplied: Bool

    private static let configurationBytesMax = 65_536

    /// Nil for another kind.
    init?(_ window: ByteWindow) throws {
        guard let items = try HEIFItems(window) else { return nil }
        try self.init(items, item: items.primary)
    }

    private init?(_ items: HEIFItems, item: Int) throws {
        let window = items.window
        guard let kind = items.kinds[item], !kind.isProtected, let properties = items.properties[item],
            let transform = try HEIFTransform(properties, window)
        else { return nil }
        self.items = items
        alphaItem = Self.alpha(of: item, items)
        isPremultiplied = items.references["prem"]?[item]?.isEmpty == false
        orientation = transform.orientation
        let parts = kind.type == "grid" ? items.references["dimg"]?[item] ?? [] : [item]
        guard let first = parts.first, let size = try Self.size(of: first, items),
            let codec = Self.codec(items.kinds[first]),
            try Self.areAlike(parts, items: items, isGrid: kind.type == "grid")
        else { return nil }
        self.codec = codec
        (tileWidth, tileHeight) = size
        if kind.type == "grid" {
            guard let extents = items.locations[item], extents.count == 1 else { return nil }
            grid = try HEIFGrid(extents[0], window)
        } else {
            grid = HEIFGrid(width: tileWidth, height: tileHeight)
        }
        // Bounded: rows and columns are at most 256.
        guard parts.count == grid.columns * grid.rows, parts.count <= Limits.heifTilesMax,
            grid.isCovered(byTilesOf: tileWidth, tileHeight),
            let aperture = try HEIFAperture(transform, of: grid, window)
        else { return nil }
        self.aperture = aperture
        let found = parts.compactMap { items.locations[$0] }
        guard found.count == parts.count, found.allSatisfy({ !$0.isEmpty }) else { return nil }
        tiles = found
        let whole = try HEIFColorProperties(properties, window)
        let colors = try HEIFColorProperties(items.properties[first] ?? [], window).completed(by: whole)
        (profile, codePoints) = (colors.profile, colors.codePoints)
        guard let configuration = try Self.configuration(of: first, codec: codec, items: items) else { return nil }
        self.configuration = configuration
    }

    /// Width in pixels, as displayed.
    var width: Int { orientation.swapsSides ? aperture.height : aperture.width }
    /// Height in pixels, as displayed.
    var height: Int { orientation.swapsSides ? aperture.width : aperture.height }
    /// Whether all of the grid is shown.
    var isWhole: Bool { aperture == HEIFAperture(of: grid) }

    var hasAlpha: Bool { alphaItem != nil }

    /// Whether tiles can be reduced one by one while they are decoded; chroma is halved once more.
    var isHalvable: Bool {
        tiles.count > 1 && isWhole && !hasAlpha && (declaredTransfer ?? .standard) == .standard && grid.width % 4 == 0
            && grid.height % 4 == 0
    }
    /// Whether they have to be, because the whole image needs too much memory.
    // Bounded: `ImageLimits` have been checked.
    var isHalved: Bool { isHalvable && grid.width * grid.height > Limits.heifPixelsMax }

    /// Its alpha as an image; nil for one that is not plain, or has another size.
    func alpha() throws -> PlainHEIF? {
        guard let alphaItem, let alpha = try PlainHEIF(items, item: alphaItem), alpha.grid.width == grid.width,
            alpha.grid.height == grid.height
        else { return nil }
        return alpha
    }

    /// Whether it can be turned in components: halved chroma on an odd side is not symmetric.
    var canRotateComponents: Bool {
        orientation == .upright || (aperture.width % 2 == 0 && aperture.height % 2 == 0)
    }

    private static func codec(_ kind: HEIFItems.Kind?) -> Decoder.StillCodec? {
        switch kind?.type {
        case "hvc1": .hevc
        case "av01": .av1
        default: nil
        }
    }

    private static func configuration(of item: Int, codec: Decoder.StillCodec, items: HEIFItems) throws -> [UInt8]? {
        guard codec == .hevc else { return [] }
        guard let content = items.property("hvcC", of: item), content.count <= configurationBytesMax else { return nil }
        return try Array(items.window.whole(at: content.lowerBound, count: content.count))
    }

    private static func size(of item: Int, _ items: HEIFItems) throws -> (Int, Int)? {
        guard let content = items.property("ispe", of: item) else { return nil }
        var reader = try HEIFBoxReader(fullBox: content, items.window)
        return (try reader.number(4), try reader.number(4))
    }

    /// Whether all parts have the same coding and display properties, and none has its own transform.
    private static func areAlike(_ parts: [Int], items: HEIFItems, isGrid: Bool) throws -> Bool {
        guard isGrid, let first = parts.first else { return true }
        let shaping: Set<String> = ["hvcC", "av1C", "ispe", "irot", "imir", "clap", "colr"]
        func shape(_ item: Int) -> [HEIFItems.Property] {
            (items.properties[item] ?? []).filter { shaping.contains($0.type) }
        }
        let known = shape(first)
        guard !known.contains(where: { ["irot", "imir", "clap"].contains($0.type) }) else { return false }
        // Equal tiles may have separate but equal boxes; those files are left to libheif.
        return parts.allSatisfy { items.kinds[$0] == items.kinds[first] && shape($0) == known }
    }

    private static func alpha(of item: Int, _ items: HEIFItems) -> Int? {
        (items.references["auxl"] ?? [:]).filter { $0.value.contains(item) && isAlpha($0.key, items: items) }.keys.min()
    }

    /// Depth and gain maps are auxiliary as well; an unreadable type may be alpha.
    private static func isAlpha(_ item: Int, items: HEIFItems) -> Bool {
        guard let content = items.property("auxC", of: item) else { return true }
        // Bounded: the content lies in the file.
        let name = try? items.window.characters(at: content.lowerBound + 4, count: min(64, content.count - 4))
        return name.map { $0.contains(":alpha") || $0.contains("auxid:1\0") || $0.hasSuffix("auxid:1") } ?? true
    }
}

/// The grid of equal tiles that make up an image.
///
/// Source: ISO/IEC 23008-12, 6.6.2.3.
struct HEIFGrid: Hashable {
    let columns: Int
    let rows: Int
    /// Pixels of the whole image; the tiles at the right and bottom may extend past it.
    let width: Int
    let height: Int

    /// An image that is one tile.
    init(width: Int, height: Int) {
        (columns, rows) = (1, 1)
        (self.width, self.height) = (width, height)
    }

    init(_ content: Range<Int>, _ window: ByteWindow) throws {
        var reader = HEIFBoxReader(content, window)
        _ = try reader.number(1)
        let isWide = try reader.number(1) & 1 == 1
        // Bounded: one byte each.
        rows = try reader.number(1) + 1
        // Bounded: one byte each.
        columns = try reader.number(1) + 1
        width = try reader.number(isWide ? 4 : 2)
        height = try reader.number(isWide ? 4 : 2)
    }

    /// Whether tiles of that size cover the image, with none superfluous.
    func isCovered(byTilesOf tileWidth: Int, _ tileHeight: Int) -> Bool {
        // Bounded: rows and columns are at most 256, and sides of tiles have four bytes.
        tileWidth > 0 && tileHeight > 0 && (columns - 1) * tileWidth < width && columns * tileWidth >= width
            && (rows - 1) * tileHeight < height && rows * tileHeight >= height
    }
}

/// The part of an image that is shown: its clean aperture.
///
/// Source: ISO/IEC 14496-12, 12.1.4 (`clap`).
struct HEIFAperture: Hashable {
    let left: Int
    let top: Int
    let width: Int
    let height: Int

    /// The whole image.
    init(of grid: HEIFGrid) {
        (left, top, width, height) = (0, 0, grid.width, grid.height)
    }

    /// Of the content of `clap`: width, height, and the offsets of the middle, each as numerator and denominator of
    /// four bytes.
    ///
    /// - Returns: The whole image without a property; nil for a part that is not inside the image.
    init?(_ transform: HEIFTransform, of grid: HEIFGrid, _ window: ByteWindow) throws {
        guard let property = transform.aperture else {
            self = HEIFAperture(of: grid)
            return
        }
        var reader = HEIFBoxReader(property, window)
        var values: [Double] = []
        for isOffset in [false, false, true, true] {
            let numerator = UInt32(clamping: try reader.number(4))
            let denominator = UInt32(clamping: try reader.number(4))
            guard denominator != 0 else { return nil }
            let signed = isOffset ? Double(Int32(bitPattern: numerator)) : Double(numerator)
            values.append(signed / Double(denominator))
        }
        values = transform.beforeAperture.stored(values)
        let width = Int(clamping: values[0].rounded(.down))
        let height = Int(clamping: values[1].rounded(.down))
        let left = Self.start(of: width, in: grid.width, middle: values[2])
        let top = Self.start(of: height, in: grid.height, middle: values[3])
        guard width > 0, height > 0, left >= 0, top >= 0, left.adding(clamping: width) <= grid.width,
            top.adding(clamping: height) <= grid.height
        else { return nil }
        (self.left, self.top, self.width, self.height) = (left, top, width, height)
    }

    /// The first column or row, rounded to an even one, because a chroma sample belongs to two of them.
    private static func start(of length: Int, in whole: Int, middle: Double) -> Int {
        let exact = middle + (Double(whole) - Double(length)) / 2
        return Int(clamping: (exact / 2).rounded(.down)).multiplied(clamping: 2)
    }
}

/// Combines the rotations and mirrorings of a HEIF's image into one orientation, and finds its crop.
///
/// Source: ISO/IEC 23008-12, 6.5.10 (`irot`) and 6.5.12 (`imir`); ISO/IEC 23000-22, 7.3.6.7, for their order.
struct HEIFTransform {
    /// Mirrored left to right first, then rotated clockwise by this many quarter turns, from 0 to 3.
    struct Turn: Hashable {
        fileprivate var isMirrored = false
        fileprivate var quarters = 0

        /// Width, height and the offsets of the middle of a part, before the turn.
        func stored(_ part: [Double]) -> [Double] {
            var (across, down) = (part[2], part[3])
            for _ in 0..<quarters { (across, down) = (down, -across) }
            if isMirrored { across = -across }
            return quarters % 2 == 0 ? [part[0], part[1], across, down] : [part[1], part[0], across, down]
        }
    }

    /// The content of `clap`.
    private(set) var aperture: Range<Int>?
    /// What is applied before it: nothing, as writers should do it.
    private(set) var beforeAperture = Turn()
    private var turn = Turn()

    /// Also nil for a truncated property.
    init?(_ properties: [HEIFItems.Property], _ window: ByteWindow) throws {
        for property in properties {
            switch property.type {
            case "irot":
                // `irot` counts counterclockwise.
                let turns = Int(clamping: try window.byte(at: property.content.lowerBound))
                turn.quarters = (turn.quarters &- turns) & 3
            case "imir":
                // The first edition defined the axis the other way round; libheif, libavif and writers follow the
                // second.
                let isUpDown = try window.byte(at: property.content.lowerBound) & 1 == 0
                turn.isMirrored.toggle()
                // Mirroring a rotated image equals rotating a mirrored one the other way; top to bottom adds half a
                // turn.
                turn.quarters = ((isUpDown ? 2 : 0) &- turn.quarters) & 3
            case "clap":
                guard aperture == nil else { return nil }
                (aperture, beforeAperture) = (property.content, turn)
            default: break
            }
        }
    }

    var orientation: Orientation {
        switch (turn.isMirrored, turn.quarters) {
        case (false, 0): .upright
        case (false, 1): .rotated90
        case (false, 2): .rotated180
        case (false, _): .rotated270
        case (true, 0): .mirrored
        case (true, 1): .transversed
        case (true, 2): .mirroredRotated180
        case (true, _): .transposed
        }
    }
}

/// The color properties in a HEIF's container, as opposed to those in the coded images.
///
/// Source: ISO/IEC 14496-12, 12.1.5; ISO/IEC 23091-2 (the code points).
struct HEIFColorProperties: Hashable {
    /// The byte range of an ICC profile.
    private(set) var profile: Range<Int>?
    private(set) var codePoints: CodePoints?

    struct CodePoints: Hashable {
        let primaries: Int
        let transfer: Int
        let matrix: Int
        let isFullRange: Bool

        var description: ColorDescription { ColorDescription(primaries: primaries, transfer: transfer) }
    }

    /// Maximum length: display profiles are shorter, those of printers are longer.
    private static let profileBytesMax = 1_000_000

    /// Uses the first property of each kind.
    init(_ properties: [HEIFItems.Property], _ window: ByteWindow) throws {
        for property in properties where property.type == "colr" {
            var reader = HEIFBoxReader(property.content, window)
            switch try reader.characters(4) {
            case "prof", "rICC":
                if profile == nil, reader.rest.count <= Self.profileBytesMax { profile = reader.rest }
            case "nclx":
                let primaries = try reader.number(2)
                let transfer = try reader.number(2)
                let matrix = try reader.number(2)
                let isFull = try reader.number(1) >= 0x80
                if codePoints == nil {
                    codePoints = CodePoints(
                        primaries: primaries, transfer: transfer, matrix: matrix, isFullRange: isFull)
                }
            default: break
            }
        }
    }

    /// With what another item's properties have beside.
    func completed(by other: HEIFColorProperties) -> HEIFColorProperties {
        var both = self
        both.profile = other.profile ?? profile
        both.codePoints = codePoints ?? other.codePoints
        return both
    }
}
