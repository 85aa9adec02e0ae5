import AttachPrepModel
package import MediaTypes

/// Parses the boxes of an ISO base media or QuickTime file: checks that the file is complete and reads its brand,
/// encryption and fragments.
///
/// Source: ISO/IEC 14496-12, 4.2 (boxes), 8.5.2 (sample entries), 8.12 (protection).
// Bounded throughout: offsets in the file; `box(at:)` compares a size with what is left of its parent before adding it.
package struct ISOBoxParser: Sendable, Hashable {
    /// Major brand of the `ftyp` box; nil for old QuickTime files, which have none.
    package private(set) var majorBrand: String?
    /// Whether a sample entry declares encrypted samples (Common Encryption, FairPlay).
    package private(set) var isEncrypted = false
    /// Whether the last media data box is declared longer than the file. Whether samples are missing is then checked
    /// with the movie box before it.
    package private(set) var mediaDataExceedsFile = false
    /// Whether data that is no box follows a complete movie, such as a web page's text.
    package private(set) var hasTrailingData = false
    private var hasMovie = false
    /// Whether the file is fragmented; what follows the movie box is then not junk.
    private(set) var hasFragments = false
    private var boxes = 0

    /// Parses the file.
    ///
    /// - Throws: `media.corrupt` when a box reaches past the end of the file or there is no movie box.
    package static func parse(_ window: ByteWindow) throws -> ISOBoxParser {
        var parser = ISOBoxParser()
        try parser.enterAll(of: window)
        if !parser.hasMovie { throw window.cut }
        return parser
    }

    /// Whether the movie box precedes the samples; boxes after the samples are not read.
    static func hasIndexInFront(_ window: ByteWindow) throws -> Bool {
        var parser = ISOBoxParser()
        var offset = 0
        while offset + 8 <= window.size, let box = try parser.box(at: offset, within: window.size, of: window) {
            if box.type == "moov" || box.type == "mdat" { return box.type == "moov" }
            offset = box.end
        }
        return false
    }

    /// Parses a damaged file as far as its boxes are valid.
    static func recovered(_ window: ByteWindow) throws -> ISOBoxParser {
        var parser = ISOBoxParser()
        do { try parser.enterAll(of: window) } catch let error as AttachPrepError {
            if error.code != .mediaCorrupt { throw error }
        }
        return parser
    }

    private mutating func enterAll(of window: ByteWindow) throws {
        var offset = 0
        while offset + 8 <= window.size {
            guard let box = try box(at: offset, within: window.size, of: window) else { return }
            try enter(box, of: window)
            offset = box.end
        }
    }

    /// Minimum size of a fragment: an empty `moof` with a `mfhd` and a `traf` of `tfhd` and `trun`, and an empty
    /// `mdat`.
    private static let fragmentBytesMin = 72
    /// Boxes that announce fragments: truncated, they are not junk.
    private static let fragmentBoxes: Set<String> = ["moof", "sidx", "styp", "ssix", "prft", "emsg", "mfra"]

    private struct Box {
        let type: String
        let content: Int
        let end: Int
    }

    /// The box at an offset; nil where padding or junk after a complete movie begins.
    private mutating func box(at offset: Int, within end: Int, of window: ByteWindow) throws -> Box? {
        boxes += 1
        if boxes > Limits.boxesMax { throw window.broken("more than \(Limits.boxesMax) boxes") }
        let type = try window.characters(at: offset + 4, count: 4)
        var size = try window.bigEndian(at: offset, bytes: 4)
        var header = 8
        if size == 1 {
            // A 64-bit size with its top bit set exceeds any file.
            if try window.byte(at: offset + 8) & 0x80 != 0 { throw window.cut }
            size = try window.bigEndian(at: offset + 8, bytes: 8)
            header = 16
        }
        if size == 0, type != "\0\0\0\0" { size = end - offset }
        let isPlausible = size >= header && type.unicodeScalars.allSatisfy { $0.value >= 0x20 }
        if !isPlausible {
            if hasMovie, !hasFragments || end - offset < Self.fragmentBytesMin { return nil }
            throw window.broken("no box at \(offset)")
        }
        if size > end - offset {
            guard hasMovie, !hasFragments, !Self.fragmentBoxes.contains(type), end == window.size else {
                throw window.cut
            }
            if type == "mdat" { mediaDataExceedsFile = true } else { hasTrailingData = true }
            return nil
        }
        return Box(type: type, content: offset + header, end: offset + size)
    }

    private mutating func enter(_ box: Box, of window: ByteWindow) throws {
        switch box.type {
        case "ftyp":
            if majorBrand == nil, box.end - box.content >= 4 {
                majorBrand = try window.characters(at: box.content, count: 4)
            }
        case "moov":
            hasMovie = true
            try checkPackedIndex(box, of: window)
            try descend(box, path: ["trak", "mdia", "minf", "stbl", "stsd"], of: window)
        case "moof":
            hasFragments = true
            try parseFragment(box, of: window)
        default: break
        }
    }

    /// Checks that boxes fill a fragment; libav silently skips a fragment that it cannot parse.
    private mutating func parseFragment(_ parent: Box, of window: ByteWindow) throws {
        var offset = parent.content
        while offset + 8 <= parent.end, let box = try box(at: offset, within: parent.end, of: window) {
            if box.type == "traf" { try parseFragment(box, of: window) }
            offset = box.end
        }
        if offset != parent.end { throw window.broken("the boxes of a fragment do not fill it") }
    }

    /// Limits QuickTime's "compressed movie resource", whose first bytes declare its unpacked size.
    private func checkPackedIndex(_ movie: Box, of window: ByteWindow) throws {
        guard movie.end - movie.content >= 44,
            try window.characters(at: movie.content + 4, count: 4) == "cmov",
            let data = try ISOBoxSearch.first("cmvd", in: movie.content + 8..<movie.end, window: window),
            data.count >= 4,
            try window.bigEndian(at: data.lowerBound, bytes: 4) > Limits.packedIndexBytesMax
        else { return }
        throw window.broken("a compressed index of more than \(Limits.packedIndexBytesMax) bytes")
    }

    private mutating func descend(_ parent: Box, path: ArraySlice<String>, of window: ByteWindow) throws {
        guard let wanted = path.first else { return try readSampleEntries(parent, of: window) }
        var offset = parent.content
        while offset + 8 <= parent.end {
            guard let box = try box(at: offset, within: parent.end, of: window) else { return }
            if box.type == wanted { try descend(box, path: path.dropFirst(), of: window) }
            offset = box.end
        }
    }

    private static let encrypted: Set<String> = [
        "encv", "enca", "enct", "encs", "encm", "drms", "drmi", "drmt", "drmp",
    ]

    private mutating func readSampleEntries(_ description: Box, of window: ByteWindow) throws {
        var offset = description.content + 8
        while offset + 8 <= description.end {
            guard let entry = try box(at: offset, within: description.end, of: window) else { return }
            if Self.encrypted.contains(entry.type) { isEncrypted = true }
            offset = entry.end
        }
    }
}

/// Finds boxes of a type in a part of a file.
///
/// Source: ISO/IEC 14496-12, 4.2.
enum ISOBoxSearch {
    /// The content ranges of all boxes of a type, in order; only box headers are read.
    ///
    /// - Throws: `media.corrupt` when a box reaches past the end of its parent, or there are more than
    ///   `Limits.boxesMax`.
    static func all(_ type: String, in parent: Range<Int>, window: ByteWindow) throws -> [Range<Int>] {
        var found: [Range<Int>] = []
        try parse(parent, in: window) { name, content in
            if name == type { found.append(content) }
            return true
        }
        return found
    }

    /// The content range of the first box of a type; nil if there is none.
    static func first(_ type: String, in parent: Range<Int>, window: ByteWindow) throws -> Range<Int>? {
        var found: Range<Int>?
        try parse(parent, in: window) { name, content in
            if name == type { found = content }
            return found == nil
        }
        return found
    }

    /// Calls `body` for each box until it returns false.
    // Bounded throughout: offsets in `parent`, which lies in the file; a size is compared with what is left of it
    // before it is added.
    static func parse(
        _ parent: Range<Int>, in window: ByteWindow, _ body: (_ type: String, _ content: Range<Int>) throws -> Bool
    ) throws {
        var offset = parent.lowerBound
        for _ in 0..<Limits.boxesMax where offset + 8 <= parent.upperBound {
            var size = try window.bigEndian(at: offset, bytes: 4)
            var header = 8
            // A 64-bit size with its top bit set exceeds any file.
            if size == 1, offset + 16 <= parent.upperBound, try window.byte(at: offset + 8) < 0x80 {
                size = try window.bigEndian(at: offset + 8, bytes: 8)
                header = 16
            }
            if size == 0 { size = parent.upperBound - offset }
            guard size >= header, size <= parent.upperBound - offset else { throw window.cut }
            let type = try window.characters(at: offset + 4, count: 4)
            if try !body(type, offset + header..<offset + size) { return }
            offset += size
        }
        if offset + 8 <= parent.upperBound { throw window.broken("more than \(Limits.boxesMax) boxes") }
    }
}

/// Reads the edit lists of the tracks.
///
/// Source: ISO/IEC 14496-12, 8.6.6.
enum ISOEditLists {
    /// Entries of a list that are read: editors write a few.
    private static let entriesMax = 1_000

    /// Whether an edit that shows media has a duration of 0, which only a fragmented file may have; false for a file
    /// whose boxes are broken.
    static func hasEndlessEdit(_ descriptor: CInt, deadline: ContinuousClock.Instant) -> Bool {
        guard let window = try? ByteWindow(descriptor: descriptor, noun: "movie", deadline: deadline) else {
            return false
        }
        return (try? hasEndlessEdit(window)) ?? false
    }

    private static func hasEndlessEdit(_ window: ByteWindow) throws -> Bool {
        guard let movie = try ISOBoxSearch.first("moov", in: 0..<window.size, window: window),
            try ISOBoxSearch.first("mvex", in: movie, window: window) == nil
        else { return false }
        return try ISOBoxSearch.all("trak", in: movie, window: window).contains { track in
            guard let edits = try ISOBoxSearch.first("edts", in: track, window: window),
                let list = try ISOBoxSearch.first("elst", in: edits, window: window)
            else { return false }
            return try isEndless(list, in: window)
        }
    }

    // Bounded throughout: a thousand entries of at most 20 bytes in a file.
    private static func isEndless(_ list: Range<Int>, in window: ByteWindow) throws -> Bool {
        let bytes = try window.byte(at: list.lowerBound) == 1 ? 8 : 4
        let count = min(try window.bigEndian(at: list.lowerBound + 4, bytes: 4), entriesMax)
        for index in 0..<count {
            let entry = list.lowerBound + 8 + index * (2 * bytes + 4)
            guard entry + 2 * bytes <= list.upperBound else { return false }
            let isEmpty = try window.bytes(at: entry, count: bytes).allSatisfy { $0 == 0 }
            // A negative start is a pause.
            if isEmpty, try window.byte(at: entry + bytes) < 0x80 { return true }
        }
        return false
    }
}

extension Limits {
    /// Boxes at the top level: four hours of half-second fragments are 28,800 pairs; 100,000 is far above any real
    /// file.
    package static let boxesMax = 100_000
    /// A compressed index of a QuickTime movie, decompressed: an hour's is 5 MB.
    static let packedIndexBytesMax = 20_000_000
}
