/// The tags that stand before, between and behind the frames of an MP3 or ADTS file.
///
/// Sources: id3.org (ID3v1, ID3v2.2 to 2.4), hydrogenaudio's "APEv2 specification", id3.org's "Lyrics3 v2.00".
// Bounded throughout: places in the file and in what was read of it; sizes of 28 and 32 bits.
enum SoundTags {
    private static let initials: [UInt8] = [0x49, 0x54, 0x41, 0x4C]

    /// Bytes of the tag at an offset; nil where none begins.
    static func length(at offset: Int, of window: ByteWindow) throws -> Int? {
        // Asked at every byte of padding: most are told by the first one alone.
        guard let first = try window.bytes(at: offset, count: 1).first, initials.contains(first) else { return nil }
        let bytes = Array(try window.bytes(at: offset, count: 32))
        if bytes.starts(with: Array("ID3".utf8)) { return identifier3(bytes) }
        if bytes.starts(with: Array("TAG".utf8)), offset + 128 <= window.size { return 128 }
        if bytes.starts(with: Array("APETAGEX".utf8)) { return monkey(bytes) }
        if bytes.starts(with: Array("LYRICSBEGIN".utf8)) { return try lyrics(at: offset, of: window) }
        return nil
    }

    /// A size in four times seven bits; ten bytes of header, and ten more of footer where its flag says so.
    private static func identifier3(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 10, bytes[3] != 0xFF, bytes[4] != 0xFF, bytes[6..<10].allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        let size = bytes[6..<10].reduce(0) { $0 << 7 | Int($1) }
        return 10 + size + (bytes[5] & 0x10 != 0 ? 10 : 0)
    }

    /// The size counts items and footer; the header in front is counted by nobody.
    private static func monkey(_ bytes: [UInt8]) -> Int? {
        guard bytes.count == 32 else { return nil }
        let size = bytes[12..<16].reversed().reduce(0) { $0 << 8 | Int($1) }
        let isHeader = bytes[23] & 0x20 != 0
        return isHeader ? 32 + size : 32
    }

    /// Lyrics say their length at their end alone; they are short, so it is looked for. Where lyrics begin anew there
    /// was no end, which also keeps a file of nothing but beginnings from being searched over and over.
    private static func lyrics(at offset: Int, of window: ByteWindow) throws -> Int? {
        let text = try window.bytes(at: offset, count: 32_768)
        let word = Array("LYRICS".utf8)
        var index = text.startIndex + word.count
        while let next = text[index...].firstIndex(of: word[0]), next + 9 <= text.endIndex {
            index = next + 1
            guard text[next..<next + word.count].elementsEqual(word) else { continue }
            let rest = String(decoding: text[next + word.count..<next + 9], as: UTF8.self)
            if rest == "200" || rest == "END" { return next + 9 - text.startIndex }
            if rest == "BEG" { return nil }
        }
        return nil
    }
}
