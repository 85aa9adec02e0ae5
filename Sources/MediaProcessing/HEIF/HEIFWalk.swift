import RichPush

/// The pictures of a HEIF that are made of others: that none is made of itself, and how many it takes.
///
/// libheif 1.15 follows them without an end: a picture that is made of itself overflows its stack.
/// Source: ISO/IEC 23008-12, 6.4 (derived images); ISO/IEC 14496-12, 8.11.12 (item references).
struct HEIFWalk {
    /// Pictures made of pictures that are made of pictures: a turned grid is two, cameras write no more.
    private static let levelsMax = 8

    private let parts: [Int: [Int]]
    private var counted: [Int: Int] = [:]

    /// - Throws: `media.corrupt` for what leads back to itself or is cut, `media.too_many_pixels` over
    ///   `Limits.heifTilesMax`.
    static func check(_ window: ByteWindow) throws {
        var parts: [Int: [Int]] = [:]
        for meta in try metas(window) where meta.count > 4 {
            for references in try BoxSearch.all("iref", in: meta.dropFirst(4), window) where references.count > 4 {
                try read(references, of: window, into: &parts)
            }
        }
        var walk = HEIFWalk(parts: parts)
        for item in parts.keys {
            guard try walk.tiles(of: item, level: 0, window) <= Limits.heifTilesMax else {
                throw AttachPrepError(
                    .mediaTooManyPixels,
                    "The picture is put together of more than \(Limits.heifTilesMax.grouped) others; send a JPEG.")
            }
        }
    }

    private init(parts: [Int: [Int]]) { self.parts = parts }

    /// What follows the boxes is nobody's, as far as the pictures have been found.
    private static func metas(_ window: ByteWindow) throws -> [Range<Int>] {
        var found: [Range<Int>] = []
        do {
            try BoxSearch.walk(0..<window.size, window) { type, content in
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
        try BoxSearch.walk(references.dropFirst(4), window) { type, content in
            guard type == "dimg", content.count >= width + 2 else { return true }
            let item = try window.bigEndian(at: content.lowerBound, bytes: width)
            let count = try window.bigEndian(at: content.lowerBound + width, bytes: 2)
            guard content.count >= width + 2 + count * width else { throw window.cut }
            for index in 0..<count {
                let place = content.lowerBound + width + 2 + index * width
                parts[item, default: []].append(try window.bigEndian(at: place, bytes: width))
            }
            return true
        }
    }

    /// Pictures that have to be decoded for one.
    private mutating func tiles(of item: Int, level: Int, _ window: ByteWindow) throws -> Int {
        if let known = counted[item] { return known }
        guard let made = parts[item] else { return 1 }
        if level > Self.levelsMax { throw window.broken("picture \(item) is made of itself") }
        var sum = 0
        for part in made {
            // Bounded: levels are, and each term by `heifTilesMax` and one.
            sum = min(Limits.heifTilesMax + 1, try sum + tiles(of: part, level: level + 1, window))
        }
        counted[item] = sum
        return sum
    }
}

extension MediaFormat {
    /// Whether libheif decodes it.
    var isHEIF: Bool { [.heic, .heif, .avif].contains(self) }
}
