import AttachPrepModel
import MediaTypes
import SafeArithmetic

/// The items of a HEIF's first `meta` box: their types, locations, properties and references.
///
/// Source: ISO/IEC 14496-12, 8.11 (items); ISO/IEC 23008-12, 9.3 (properties).
struct HEIFItems {
    /// An item's entry in `iinf`.
    struct Kind: Hashable {
        let type: String
        let isProtected: Bool
    }

    /// A box of `ipco`: its type and the range of its content.
    struct Property: Hashable {
        let type: String
        let content: Range<Int>
    }

    /// Maximum properties and references of all items together: a phone's 192 tiles have 600.
    private static let linksMax = 100_000

    let window: ByteWindow
    private var links = 0
    /// The primary item.
    let primary: Int
    private(set) var kinds: [Int: Kind] = [:]
    private(set) var locations: [Int: HEIFItemLocations.Extents] = [:]
    /// In the order in which they are applied.
    private(set) var properties: [Int: [Property]] = [:]
    /// By reference type: from an item to others.
    private(set) var references: [String: [Int: [Int]]] = [:]

    /// Nil where the item boxes are missing.
    init?(_ window: ByteWindow) throws {
        guard let meta = try ISOBoxSearch.first("meta", in: 0..<window.size, window: window), meta.count > 4 else {
            return nil
        }
        let inner = meta.dropFirst(4)
        guard let main = try ISOBoxSearch.first("pitm", in: inner, window: window),
            let list = try ISOBoxSearch.first("iinf", in: inner, window: window),
            let locationBox = try ISOBoxSearch.first("iloc", in: inner, window: window),
            let described = try ISOBoxSearch.first("iprp", in: inner, window: window)
        else { return nil }
        self.window = window
        var reader = try HEIFBoxReader(fullBox: main, window)
        primary = try reader.number(reader.version == 0 ? 2 : 4)
        try readKinds(list)
        let inlined = try ISOBoxSearch.first("idat", in: inner, window: window)
        locations = try HEIFItemLocations(locationBox, inlined: inlined, window).locations
        try readProperties(described)
        if let box = try ISOBoxSearch.first("iref", in: inner, window: window) { try readReferences(box) }
    }

    /// The first property of that type.
    func property(_ type: String, of item: Int) -> Range<Int>? {
        properties[item]?.first { $0.type == type }?.content
    }

    /// Whether there is EXIF or XMP about more than the pixels, and whether EXIF has a position.
    func metadata() throws -> (isPresent: Bool, hasLocation: Bool) {
        var found = (isPresent: kinds.values.contains { $0.type == "mime" }, hasLocation: false)
        for (item, kind) in kinds where kind.type == "Exif" {
            guard let part = locations[item]?.first, part.count > 4, part.count <= Limits.heifExifBytesMax else {
                continue
            }
            let bytes = try window.all(in: part)
            // The offset of the TIFF header comes first.
            let block = Array(bytes.dropFirst(4.adding(clamping: try window.bigEndian(at: part.lowerBound, bytes: 4))))
            found.isPresent = found.isPresent || ExifTags.containsMetadata(block)
            found.hasLocation = found.hasLocation || ExifTags.facts(block)?.hasLocation == true
        }
        return found
    }

    /// The color properties of the primary item or else of its first tile; of code points, the tile's count more.
    var colors: HEIFColorProperties {
        get throws {
            let whole = try HEIFColorProperties(properties[primary] ?? [], window)
            guard let tile = references["dimg"]?[primary]?.first else { return whole }
            return try HEIFColorProperties(properties[tile] ?? [], window).completed(by: whole)
        }
    }

    private mutating func readKinds(_ list: Range<Int>) throws {
        var header = try HEIFBoxReader(fullBox: list, window)
        _ = try header.number(header.version == 0 ? 2 : 4)
        try ISOBoxSearch.parse(header.rest, in: window) { type, content in
            guard type == "infe" else { return true }
            var entry = try HEIFBoxReader(fullBox: content, window)
            guard entry.version >= 2 else { return true }
            let item = try entry.number(entry.version == 2 ? 2 : 4)
            let protection = try entry.number(2)
            kinds[item] = Kind(type: try entry.characters(4), isProtected: protection != 0)
            return true
        }
    }

    private mutating func readProperties(_ described: Range<Int>) throws {
        guard let container = try ISOBoxSearch.first("ipco", in: described, window: window) else { return }
        var all: [Property] = []
        try ISOBoxSearch.parse(container, in: window) { type, content in
            all.append(Property(type: type, content: content))
            return true
        }
        for associations in try ISOBoxSearch.all("ipma", in: described, window: window) {
            var reader = try HEIFBoxReader(fullBox: associations, window)
            let isWide = reader.flags & 1 == 1
            for _ in 0..<(try reader.number(4)) {
                let item = try reader.number(reader.version == 0 ? 2 : 4)
                for _ in 0..<(try reader.number(1)) {
                    try count()
                    // The top bit marks an essential property.
                    let index = try isWide ? reader.number(2) & 0x7FFF : reader.number(1) & 0x7F
                    // Bounded: at most two bytes.
                    if all.indices.contains(index - 1) { properties[item, default: []].append(all[index - 1]) }
                }
            }
        }
    }

    private mutating func readReferences(_ box: Range<Int>) throws {
        let header = try HEIFBoxReader(fullBox: box, window)
        let width = header.version == 0 ? 2 : 4
        try ISOBoxSearch.parse(header.rest, in: window) { type, content in
            var reader = HEIFBoxReader(content, window)
            let item = try reader.number(width)
            for _ in 0..<(try reader.number(2)) {
                try count()
                references[type, default: [:]][item, default: []].append(try reader.number(width))
            }
            return true
        }
    }

    private mutating func count() throws {
        links += 1
        if links > Self.linksMax { throw window.broken("more than \(Self.linksMax) references between items") }
    }
}

/// The locations of a HEIF's items: its `iloc` box.
///
/// Source: ISO/IEC 14496-12, 8.11.3.
struct HEIFItemLocations {
    /// The parts of an item, in order; nil where they lie outside the file or use an unsupported method.
    typealias Extents = [Range<Int>]

    /// Maximum parts of all items; most items have one or two.
    private static let partsMax = 100_000

    private(set) var locations: [Int: Extents] = [:]
    private let window: ByteWindow
    private let inlined: Range<Int>?

    /// - Parameter inlined: The content of `idat`, which holds small items.
    init(_ box: Range<Int>, inlined: Range<Int>?, _ window: ByteWindow) throws {
        self.window = window
        self.inlined = inlined
        var reader = try HEIFBoxReader(fullBox: box, window)
        let sizes = try reader.number(1)
        let others = try reader.number(1)
        let form = Form(
            version: reader.version, offset: sizes >> 4, length: sizes & 15, base: others >> 4,
            index: reader.version == 0 ? 0 : others & 15)
        var parts = 0
        for _ in 0..<(try reader.number(form.isWide ? 4 : 2)) { try read(&reader, form: form, parts: &parts) }
    }

    /// Bytes of each kind of number.
    private struct Form {
        let version: Int
        let offset: Int
        let length: Int
        let base: Int
        let index: Int

        var isWide: Bool { version >= 2 }
    }

    private mutating func read(_ reader: inout HEIFBoxReader, form: Form, parts: inout Int) throws {
        let item = try reader.number(form.isWide ? 4 : 2)
        let method = try form.version == 0 ? 0 : reader.number(2) & 15
        let isExternal = try reader.number(2) != 0
        let base = try reader.number(form.base)
        var extents: Extents? = isExternal || method > 1 ? nil : []
        for _ in 0..<(try reader.number(2)) {
            _ = try reader.number(form.index)
            let offset = try reader.number(form.offset)
            let length = try reader.number(form.length)
            parts += 1
            guard parts <= Self.partsMax else { throw window.broken("more than \(Self.partsMax) item parts") }
            if let part = self.part(base, offset: offset, length: length, method: method) {
                extents?.append(part)
            } else {
                extents = nil
            }
        }
        locations[item] = extents
    }

    /// Nil for a part that does not lie in the file, or whose length is "to the end of the file".
    private func part(_ base: Int, offset: Int, length: Int, method: Int) -> Range<Int>? {
        guard let container = method == 0 ? 0..<window.size : inlined else { return nil }
        guard let start = base.adding(exactly: offset), start >= 0, start <= container.count else { return nil }
        // Bounded throughout: the start lies in its container, and so does the end.
        guard length > 0, length <= container.count - start else { return nil }
        return (container.lowerBound + start)..<(container.lowerBound + start + length)
    }
}

/// Reads the numbers of a box in order.
struct HEIFBoxReader {
    private let window: ByteWindow
    private let content: Range<Int>
    private var offset: Int
    /// Version and flags of a full box; 0 for others.
    private(set) var version = 0
    private(set) var flags = 0

    init(_ content: Range<Int>, _ window: ByteWindow) {
        self.window = window
        self.content = content
        offset = content.lowerBound
    }

    /// A box that begins with its version and flags.
    init(fullBox content: Range<Int>, _ window: ByteWindow) throws {
        self.init(content, window)
        version = try number(1)
        flags = try number(3)
    }

    /// The bytes not yet read.
    var rest: Range<Int> { offset..<content.upperBound }

    /// Reads a big-endian number of at most eight bytes; the top bit of eight must be 0.
    ///
    /// - Throws: `media.corrupt` past the end of the box.
    mutating func number(_ bytes: Int) throws -> Int {
        guard bytes > 0 else { return 0 }
        if bytes > 8 { throw window.broken("a number of \(bytes) bytes") }
        let start = try step(bytes)
        if bytes == 8, try window.byte(at: start) >= 0x80 { throw window.cut }
        return try window.bigEndian(at: start, bytes: bytes)
    }

    mutating func characters(_ count: Int) throws -> String {
        try window.characters(at: step(count), count: count)
    }

    private mutating func step(_ bytes: Int) throws -> Int {
        // Bounded throughout: the offset lies in the content, and advances no further than its end.
        guard bytes <= content.upperBound - offset else { throw window.cut }
        defer { offset += bytes }
        return offset
    }
}

/// Checks the derived images of a HEIF: no image may refer to itself, and the number of tiles is limited.
///
/// libheif 1.15 follows references without a limit: an image that refers to itself overflows its stack. Source: ISO/IEC
/// 23008-12, 6.4 (derived images); ISO/IEC 14496-12, 8.11.12 (item references).
struct HEIFReferenceValidator {
    /// Levels of derived images: a rotated grid has two, and cameras write no more.
    private static let levelsMax = 8

    private let parts: [Int: [Int]]
    private var counted: [Int: Int] = [:]

    /// - Throws: `media.corrupt` for an image that refers to itself or is truncated, `media.too_many_pixels` over
    ///   `Limits.heifTilesMax`.
    static func check(_ window: ByteWindow) throws {
        var parts: [Int: [Int]] = [:]
        for meta in try metas(window) where meta.count > 4 {
            for references in try ISOBoxSearch.all("iref", in: meta.dropFirst(4), window: window)
            where references.count > 4 {
                try read(references, of: window, into: &parts)
            }
        }
        var parser = HEIFReferenceValidator(parts: parts)
        for item in parts.keys {
            guard try parser.tiles(of: item, level: 0, window) <= Limits.heifTilesMax else {
                throw AttachPrepError(
                    .mediaTooManyPixels,
                    "The image consists of more than \(Limits.heifTilesMax.grouped) tiles; send a JPEG.")
            }
        }
    }

    private init(parts: [Int: [Int]]) { self.parts = parts }

    /// Data after the boxes is ignored once a `meta` box has been found.
    private static func metas(_ window: ByteWindow) throws -> [Range<Int>] {
        var found: [Range<Int>] = []
        do {
            try ISOBoxSearch.parse(0..<window.size, in: window) { type, content in
                if type == "meta" { found.append(content) }
                return true
            }
        } catch let error as AttachPrepError where error.code == .mediaCorrupt {
            if found.isEmpty { throw error }
        }
        return found
    }

    private static func read(_ references: Range<Int>, of window: ByteWindow, into parts: inout [Int: [Int]]) throws {
        // Bounded throughout: the content lies in the file, and a count has two bytes.
        let width = try window.byte(at: references.lowerBound) == 0 ? 2 : 4
        try ISOBoxSearch.parse(references.dropFirst(4), in: window) { type, content in
            guard type == "dimg", content.count >= width + 2 else { return true }
            let item = try window.bigEndian(at: content.lowerBound, bytes: width)
            let count = try window.bigEndian(at: content.lowerBound + width, bytes: 2)
            guard content.count >= width + 2 + count * width else { throw window.cut }
            for index in 0..<count {
                let offset = content.lowerBound + width + 2 + index * width
                parts[item, default: []].append(try window.bigEndian(at: offset, bytes: width))
            }
            return true
        }
    }

    /// Number of images that must be decoded for one item.
    private mutating func tiles(of item: Int, level: Int, _ window: ByteWindow) throws -> Int {
        if let known = counted[item] { return known }
        guard let made = parts[item] else { return 1 }
        if level > Self.levelsMax { throw window.broken("item \(item) refers to itself") }
        var sum = 0
        for part in made {
            // Bounded: levels are, and each term by `heifTilesMax` and one.
            sum = min(Limits.heifTilesMax + 1, try sum + tiles(of: part, level: level + 1, window))
        }
        counted[item] = sum
        return sum
    }
}

extension Limits {
    /// Tiles of a HEIF: a phone's 48 megapixels are 192.
    static let heifTilesMax = 10_000
    /// Bytes of a HEIF's EXIF that are searched for a position: those of a camera with a preview are the longest.
    static let heifExifBytesMax = 1_000_000
}
