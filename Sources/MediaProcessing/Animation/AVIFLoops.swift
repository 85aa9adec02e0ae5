/// How often an AVIF's sequence plays, by the edit list of its first track.
///
/// Source: ISO/IEC 14496-12, 8.6.6: an edit list that repeats goes on until the track's duration is full; libavif and
/// the browsers play a sequence that says nothing for ever.
enum AVIFLoops {
    static func count(_ window: ByteWindow) throws -> Int {
        guard let movie = try child("moov", of: 0..<window.size, window),
            let track = try child("trak", of: movie, window),
            let edits = try child("edts", of: track, window),
            let list = try child("elst", of: edits, window), list.count >= 16
        else { return 0 }
        let isLong = try window.byte(at: list.lowerBound) == 1
        guard try window.byte(at: list.lowerBound + 3) & 1 == 1 else { return 1 }
        let segment = try window.bigEndian(at: list.lowerBound + 8, bytes: isLong ? 8 : 4)
        guard let header = try child("tkhd", of: track, window), segment > 0 else { return 0 }
        let isLongHeader = try window.byte(at: header.lowerBound) == 1
        let size = isLongHeader ? 8 : 4
        let offset = header.lowerBound + (isLongHeader ? 28 : 20)
        // All ones, which as 64 bits do not fit a number of ours, stand for no end.
        guard try window.byte(at: offset) < 0x80 else { return 0 }
        let whole = try window.bigEndian(at: offset, bytes: size)
        return max(1, whole / segment + (whole % segment > 0 ? 1 : 0))
    }

    /// The content of the first box of a type.
    private static func child(_ type: String, of parent: Range<Int>, _ window: ByteWindow) throws -> Range<Int>? {
        var offset = parent.lowerBound
        while offset + 8 <= parent.upperBound {
            var size = try window.bigEndian(at: offset, bytes: 4)
            var header = 8
            if size == 1, offset + 16 <= parent.upperBound, try window.byte(at: offset + 8) < 0x80 {
                size = try window.bigEndian(at: offset + 8, bytes: 8)
                header = 16
            }
            if size == 0 { size = parent.upperBound - offset }
            guard size >= header, size <= parent.upperBound - offset else { throw window.cut }
            if try window.characters(at: offset + 4, count: 4) == type { return offset + header..<offset + size }
            offset += size
        }
        return nil
    }
}
