/// How often an AVIF's sequence plays, by the edit list of its first track.
///
/// Source: ISO/IEC 14496-12, 8.6.6: an edit list that repeats goes on until the track's duration is full; libavif and
/// the browsers play a sequence that says nothing for ever.
enum AVIFLoops {
    static func count(_ window: ByteWindow) throws -> Int {
        guard let movie = try BoxSearch.first("moov", in: 0..<window.size, window),
            let track = try BoxSearch.first("trak", in: movie, window),
            let edits = try BoxSearch.first("edts", in: track, window),
            let list = try BoxSearch.first("elst", in: edits, window), list.count >= 16
        else { return 0 }
        // Bounded throughout: contents lie in the file; the divisor is above 0, and what it divides not below.
        let isLong = try window.byte(at: list.lowerBound) == 1
        guard try window.byte(at: list.lowerBound + 3) & 1 == 1 else { return 1 }
        let segment = try window.bigEndian(at: list.lowerBound + 8, bytes: isLong ? 8 : 4)
        guard let header = try BoxSearch.first("tkhd", in: track, window), segment > 0 else { return 0 }
        let isLongHeader = try window.byte(at: header.lowerBound) == 1
        let size = isLongHeader ? 8 : 4
        let offset = header.lowerBound + (isLongHeader ? 28 : 20)
        // All ones, which as 64 bits do not fit a number of ours, stand for no end.
        guard try window.byte(at: offset) < 0x80 else { return 0 }
        let whole = try window.bigEndian(at: offset, bytes: size)
        // Rounded up; both may be as large as numbers are.
        return max(1, whole / segment + (whole % segment > 0 ? 1 : 0))
    }
}
