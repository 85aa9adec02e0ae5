import RichPush

/// The boxes of an ISO base media or QuickTime file: that the file holds all of them, and what its samples are.
///
/// Source: ISO/IEC 14496-12, 4.2 (boxes), 8.5.2 (sample entries), 8.12 (protection).
// Bounded throughout: places in the file; `box(at:)` compares a size with what is left of its parent before it adds it.
package struct BoxWalk: Sendable, Hashable {
    /// Of the `ftyp` box; nil for old QuickTime files, which have none.
    package private(set) var majorBrand: String?
    /// Whether a sample entry says that its samples are encrypted (Common Encryption, FairPlay).
    package private(set) var isEncrypted = false
    /// Whether the media data box is declared longer than the file. Whether a sample is missing is told by the movie
    /// box in front of it.
    package private(set) var mediaDataExceedsFile = false
    private var hasMovie = false
    /// Whether samples are listed in front of each run of them, so that what follows the movie box is no junk.
    private var hasFragments = false
    private var boxes = 0

    /// Walks the file.
    ///
    /// - Throws: `media.corrupt` when a box reaches past the end of the file or there is no movie box.
    package static func walk(_ window: ByteWindow) throws -> BoxWalk {
        var walk = BoxWalk()
        try walk.enterAll(of: window)
        if !walk.hasMovie { throw window.cut }
        return walk
    }

    /// Whether the movie box stands before the samples; what follows those is not looked at.
    static func hasIndexInFront(_ window: ByteWindow) throws -> Bool {
        var walk = BoxWalk()
        var offset = 0
        while offset + 8 <= window.size, let box = try walk.box(at: offset, within: window.size, of: window) {
            if box.type == "moov" || box.type == "mdat" { return box.type == "moov" }
            offset = box.end
        }
        return false
    }

    /// Walks a broken file as far as its boxes go.
    static func salvage(_ window: ByteWindow) throws -> BoxWalk {
        var walk = BoxWalk()
        do { try walk.enterAll(of: window) } catch let error as AttachPrepError {
            if error.code != .mediaCorrupt { throw error }
        }
        return walk
    }

    private mutating func enterAll(of window: ByteWindow) throws {
        var offset = 0
        while offset + 8 <= window.size {
            guard let box = try box(at: offset, within: window.size, of: window) else { return }
            try enter(box, of: window)
            offset = box.end
        }
    }

    /// An empty `moof` with a `mfhd` and a `traf` of `tfhd` and `trun`, and an empty `mdat`: less is no fragment.
    private static let fragmentBytesMin = 72

    private struct Box {
        let type: String
        let content: Int
        let end: Int
    }

    /// The box at an offset; nil where padding or junk behind a complete movie begins.
    private mutating func box(at offset: Int, within end: Int, of window: ByteWindow) throws -> Box? {
        boxes += 1
        if boxes > Limits.boxesMax { throw window.broken("more than \(Limits.boxesMax) boxes") }
        let type = try window.characters(at: offset + 4, count: 4)
        var size = try window.bigEndian(at: offset, bytes: 4)
        var header = 8
        if size == 1 {
            // A large size with its top bit set cannot be inside any file.
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
            guard hasMovie, !hasFragments, type == "mdat", end == window.size else { throw window.cut }
            mediaDataExceedsFile = true
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
            try walkFragment(box, of: window)
        default: break
        }
    }

    /// What a fragment lists; libav goes on behind one that it does not understand, as if it had not been there.
    private mutating func walkFragment(_ parent: Box, of window: ByteWindow) throws {
        var offset = parent.content
        while offset + 8 <= parent.end, let box = try box(at: offset, within: parent.end, of: window) {
            if box.type == "traf" { try walkFragment(box, of: window) }
            offset = box.end
        }
        if offset != parent.end { throw window.broken("a fragment that its boxes do not fill") }
    }

    /// QuickTime's "compressed movie resource": its first bytes say how much is unpacked from it.
    private func checkPackedIndex(_ movie: Box, of window: ByteWindow) throws {
        guard movie.end - movie.content >= 44,
            try window.characters(at: movie.content + 4, count: 4) == "cmov",
            let data = try BoxSearch.first("cmvd", in: movie.content + 8..<movie.end, window), data.count >= 4,
            try window.bigEndian(at: data.lowerBound, bytes: 4) > Limits.packedIndexBytesMax
        else { return }
        throw window.broken("a packed index of more than \(Limits.packedIndexBytesMax) bytes")
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
