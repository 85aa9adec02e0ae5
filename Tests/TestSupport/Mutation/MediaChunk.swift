/// A part of a file with a length field: an ISO box, a RIFF or PNG chunk, a JPEG segment, an EBML element.
public struct MediaChunk: Sendable, Hashable {
    /// The whole chunk, header included.
    public let range: Range<Int>
    /// The length field.
    public let length: Range<Int>
    public let isLittleEndian: Bool
    public let content: Range<Int>

    /// All chunks, nested ones included, as far as they can be parsed; empty for formats without chunks.
    public static func all(of bytes: [UInt8]) -> [MediaChunk] {
        var finder = MediaChunkFinder(bytes: bytes)
        finder.find()
        return finder.chunks
    }
}

/// Parses the chunks of a file up to the first invalid one.
private struct MediaChunkFinder {
    let bytes: [UInt8]
    var chunks: [MediaChunk] = []

    private static let chunksMax = 2_000

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func find() {
        let all = 0..<bytes.count
        switch (text(0), text(4)) {
        case ("RIFF", _), ("RF64", _): riff(all, littleEndian: true)
        case ("FORM", _): riff(all, littleEndian: false)
        case ("\u{89}PNG", _): png()
        case ("OggS", _): ogg()
        case ("\u{1A}E\u{DF}\u{A3}", _): ebml(all)
        case (_, "ftyp"), (_, "moov"), (_, "mdat"), (_, "wide"), (_, "free"): boxes(all)
        case (let head, _) where head.hasPrefix("\u{FF}\u{D8}"): jpeg()
        default: break
        }
    }

    private func text(_ offset: Int) -> String {
        guard offset + 4 <= bytes.count else { return "" }
        return String(String.UnicodeScalarView(bytes[offset..<offset + 4].map { Unicode.Scalar($0) }))
    }

    private func number(_ range: Range<Int>, littleEndian: Bool = false) -> Int {
        let part = bytes[range]
        return littleEndian ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func add(_ range: Range<Int>, length: Range<Int>, header: Int, littleEndian: Bool = false) {
        chunks.append(
            MediaChunk(
                range: range, length: length, isLittleEndian: littleEndian,
                content: min(range.lowerBound + header, range.upperBound)..<range.upperBound))
    }

    private static let boxesOfBoxes: Set<String> = [
        "moov", "trak", "mdia", "minf", "stbl", "edts", "dinf", "moof", "traf", "mvex", "udta", "iprp", "ipco", "meta",
        "stsd", "dref", "iinf", "iref", "ilst", "mp4a", "avc1", "hvc1", "hev1", "wave",
    ]
    private static let leads = ["meta": 4, "stsd": 8, "dref": 8, "iinf": 6, "iref": 4, "avc1": 78, "mp4a": 28]

    private mutating func boxes(_ range: Range<Int>) {
        var offset = range.lowerBound
        while offset + 8 <= range.upperBound, chunks.count < Self.chunksMax {
            let size = number(offset..<offset + 4)
            let end = size == 0 ? range.upperBound : offset + size
            guard end >= offset + 8, end <= range.upperBound else { return }
            add(offset..<end, length: offset..<offset + 4, header: 8)
            let type = text(offset + 4)
            if Self.boxesOfBoxes.contains(type) { boxes(min(offset + 8 + (Self.leads[type] ?? 0), end)..<end) }
            offset = end
        }
    }

    private mutating func riff(_ range: Range<Int>, littleEndian: Bool) {
        var offset = range.lowerBound
        while offset + 8 <= range.upperBound, chunks.count < Self.chunksMax {
            let size = number(offset + 4..<offset + 8, littleEndian: littleEndian)
            let end = min(offset + 8 + size + size % 2, range.upperBound)
            add(offset..<end, length: offset + 4..<offset + 8, header: 8, littleEndian: littleEndian)
            if ["RIFF", "FORM", "LIST"].contains(text(offset)), offset + 12 <= end {
                riff(offset + 12..<end, littleEndian: littleEndian)
            }
            offset = end
        }
    }

    private mutating func png() {
        var offset = 8
        while offset + 12 <= bytes.count, chunks.count < Self.chunksMax {
            let end = offset + 12 + number(offset..<offset + 4)
            guard end <= bytes.count else { return }
            add(offset..<end, length: offset..<offset + 4, header: 8)
            offset = end
        }
    }

    private mutating func jpeg() {
        var offset = 2
        while offset + 4 <= bytes.count, bytes[offset] == 0xFF, chunks.count < Self.chunksMax {
            let end = offset + 2 + number(offset + 2..<offset + 4)
            guard end <= bytes.count else { return }
            add(offset..<end, length: offset + 2..<offset + 4, header: 4)
            if bytes[offset + 1] == 0xDA { return }
            offset = end
        }
    }

    /// Pages; their length field is the number of segments.
    private mutating func ogg() {
        var offset = 0
        while offset + 27 <= bytes.count, text(offset) == "OggS", chunks.count < Self.chunksMax {
            let segments = Int(bytes[offset + 26])
            guard offset + 27 + segments <= bytes.count else { return }
            let body = bytes[offset + 27..<offset + 27 + segments].reduce(0) { $0 + Int($1) }
            let end = min(offset + 27 + segments + body, bytes.count)
            add(offset..<end, length: offset + 26..<offset + 27, header: 27 + segments)
            offset = end
        }
    }

    private static let elementsOfElements: Set<Int> = [
        0x1A45_DFA3, 0x1853_8067, 0x1549_A966, 0x1654_AE6B, 0xAE, 0xE0, 0xE1, 0x1F43_B675, 0xA0, 0x1C53_BB6B, 0xBB,
        0xB7, 0x114D_9B74, 0x4DBB, 0x1254_C367, 0x7373, 0x67C8,
    ]

    private mutating func ebml(_ range: Range<Int>) {
        var offset = range.lowerBound
        while offset + 2 <= range.upperBound, chunks.count < Self.chunksMax {
            let idBytes = bytes[offset].leadingZeroBitCount + 1
            guard idBytes <= 4, offset + idBytes < range.upperBound else { return }
            let sizeOffset = offset + idBytes
            let sizeBytes = bytes[sizeOffset].leadingZeroBitCount + 1
            guard sizeBytes <= 8, sizeOffset + sizeBytes <= range.upperBound else { return }
            let size = number(sizeOffset..<sizeOffset + sizeBytes) & ((1 << (7 * sizeBytes)) - 1)
            guard size <= range.upperBound - sizeOffset - sizeBytes else { return }
            let end = sizeOffset + sizeBytes + size
            add(offset..<end, length: sizeOffset..<sizeOffset + sizeBytes, header: idBytes + sizeBytes)
            if Self.elementsOfElements.contains(number(offset..<sizeOffset)) { ebml(sizeOffset + sizeBytes..<end) }
            offset = end
        }
    }
}
