import RichPush

/// The items of a HEIF's first `meta` box: what each is, where its bytes lie, what is said of it.
///
/// Source: ISO/IEC 14496-12, 8.11 (items); ISO/IEC 23008-12, 9.3 (properties).
struct HEIFItems {
    /// An item as far as it is told in `iinf`.
    struct Kind: Hashable {
        let type: String
        let isProtected: Bool
    }

    /// A box of `ipco`: its type and the place of its content.
    struct Property: Hashable {
        let type: String
        let content: Range<Int>
    }

    /// Properties and references of all items together: a phone's 192 tiles have 600.
    private static let linksMax = 100_000

    let window: ByteWindow
    private var links = 0
    /// The picture that stands for the file.
    let primary: Int
    private(set) var kinds: [Int: Kind] = [:]
    private(set) var places: [Int: HEIFPlaces.Place] = [:]
    /// In the order in which they are to be used.
    private(set) var properties: [Int: [Property]] = [:]
    /// By the type of reference: from an item to others.
    private(set) var references: [String: [Int: [Int]]] = [:]

    /// Nil where there is no list of items as we know it.
    init?(_ window: ByteWindow) throws {
        guard let meta = try BoxSearch.first("meta", in: 0..<window.size, window), meta.count > 4 else { return nil }
        let inner = meta.dropFirst(4)
        guard let main = try BoxSearch.first("pitm", in: inner, window),
            let list = try BoxSearch.first("iinf", in: inner, window),
            let locations = try BoxSearch.first("iloc", in: inner, window),
            let described = try BoxSearch.first("iprp", in: inner, window)
        else { return nil }
        self.window = window
        var reader = try HEIFReader(fullBox: main, window)
        primary = try reader.number(reader.version == 0 ? 2 : 4)
        try readKinds(list)
        let inlined = try BoxSearch.first("idat", in: inner, window)
        places = try HEIFPlaces(locations, inlined: inlined, window).places
        try readProperties(described)
        if let box = try BoxSearch.first("iref", in: inner, window) { try readReferences(box) }
    }

    /// The first property of that type.
    func property(_ type: String, of item: Int) -> Range<Int>? {
        properties[item]?.first { $0.type == type }?.content
    }

    private mutating func readKinds(_ list: Range<Int>) throws {
        var header = try HEIFReader(fullBox: list, window)
        _ = try header.number(header.version == 0 ? 2 : 4)
        try BoxSearch.walk(header.rest, window) { type, content in
            guard type == "infe" else { return true }
            var entry = try HEIFReader(fullBox: content, window)
            guard entry.version >= 2 else { return true }
            let item = try entry.number(entry.version == 2 ? 2 : 4)
            let protection = try entry.number(2)
            kinds[item] = Kind(type: try entry.characters(4), isProtected: protection != 0)
            return true
        }
    }

    private mutating func readProperties(_ described: Range<Int>) throws {
        guard let container = try BoxSearch.first("ipco", in: described, window) else { return }
        var all: [Property] = []
        try BoxSearch.walk(container, window) { type, content in
            all.append(Property(type: type, content: content))
            return true
        }
        for associations in try BoxSearch.all("ipma", in: described, window) {
            var reader = try HEIFReader(fullBox: associations, window)
            let isWide = reader.flags & 1 == 1
            for _ in 0..<(try reader.number(4)) {
                let item = try reader.number(reader.version == 0 ? 2 : 4)
                for _ in 0..<(try reader.number(1)) {
                    try count()
                    // The top bit says that a reader must know it.
                    let index = try isWide ? reader.number(2) & 0x7FFF : reader.number(1) & 0x7F
                    // Bounded: at most two bytes.
                    if all.indices.contains(index - 1) { properties[item, default: []].append(all[index - 1]) }
                }
            }
        }
    }

    private mutating func readReferences(_ box: Range<Int>) throws {
        let header = try HEIFReader(fullBox: box, window)
        let width = header.version == 0 ? 2 : 4
        try BoxSearch.walk(header.rest, window) { type, content in
            var reader = HEIFReader(content, window)
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
        if links > Self.linksMax { throw window.broken("more than \(Self.linksMax) links between items") }
    }
}
