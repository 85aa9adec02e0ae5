import Glibc

/// Reads the segments of a JPEG as far as its first scan.
///
/// Source: ITU-T T.81, B.2.
struct BaselineHeader {
    private struct FramePart {
        let identifier: UInt8
        let across: Int
        let down: Int
        let quantizer: Int
    }

    /// Bytes in front of the scan that are looked at; what has longer headers is libjpeg's business.
    private static let bytesMax = 1_048_576

    private var quantizers: [Int: [Int32]] = [:]
    private var direct: [Int: HuffmanTable] = [:]
    private var alternating: [Int: HuffmanTable] = [:]
    private var parts: [FramePart] = []
    private var width = 0
    private var height = 0
    private var restartInterval = 0

    // Bounded throughout: numbers of a header have one or two bytes, factors four bits and are checked to be 1 to 4,
    // and offsets stay below `bytesMax` and a segment. Each run of bytes is counted before it is read.

    /// Nil for another kind of JPEG, and for one with a fault: libjpeg has the word on those.
    static func read(descriptor: CInt) -> BaselineFrame? {
        var header = BaselineHeader()
        guard bytes(of: descriptor, at: 0, count: 2) == [0xFF, 0xD8] else { return nil }
        var offset = 2
        while offset < bytesMax, let head = bytes(of: descriptor, at: offset, count: 4), head[0] == 0xFF {
            let length = Int(head[2]) << 8 | Int(head[3])
            guard length >= 2 else { return nil }
            // Nobody reads a large block of EXIF for this.
            if isSkipped(head[1]) {
                offset += 2 + length
                continue
            }
            guard let body = bytes(of: descriptor, at: offset + 4, count: length - 2) else { return nil }
            offset += 2 + length
            if head[1] == 0xDA { return header.frame(scan: body, scanOffset: offset) }
            guard header.take(head[1], body) else { return nil }
        }
        return nil
    }

    private static func isSkipped(_ marker: UInt8) -> Bool { (0xE0...0xEF).contains(marker) || marker == 0xFE }

    private static func bytes(of descriptor: CInt, at offset: Int, count: Int) -> [UInt8]? {
        let found = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, unsafe pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
        return found.count == count ? found : nil
    }

    /// Takes a segment in; false for what does not belong to this kind.
    private mutating func take(_ marker: UInt8, _ body: [UInt8]) -> Bool {
        switch marker {
        case 0xC0, 0xC1: takeFrame(body)
        case 0xC4: takeHuffmanTables(body[...])
        case 0xDB: takeQuantizers(body[...])
        case 0xDD: takeRestartInterval(body)
        default: false
        }
    }

    private mutating func takeFrame(_ body: [UInt8]) -> Bool {
        guard parts.isEmpty, body.count >= 6, body[0] == 8 else { return false }
        height = Int(body[1]) << 8 | Int(body[2])
        width = Int(body[3]) << 8 | Int(body[4])
        let count = Int(body[5])
        guard count == 1 || count == 3, body.count == 6 + 3 * count, width > 0, height > 0 else { return false }
        for index in 0..<count {
            let part = body[(6 + 3 * index)...].prefix(3)
            let (across, down) = (Int(part[part.startIndex + 1] >> 4), Int(part[part.startIndex + 1] & 15))
            guard (1...4).contains(across), (1...4).contains(down) else { return false }
            parts.append(
                FramePart(
                    identifier: part[part.startIndex], across: across, down: down,
                    quantizer: Int(part[part.startIndex + 2])))
        }
        // libjpeg gives components of the same name other ones.
        guard Set(parts.map(\.identifier)).count == parts.count else { return false }
        // A unit of ten blocks at most: T.81, B.2.3.
        return parts.reduce(0) { $0 + $1.across * $1.down } <= 10
    }

    private mutating func takeHuffmanTables(_ body: ArraySlice<UInt8>) -> Bool {
        var rest = body
        while let kind = rest.popFirst() {
            guard rest.count >= 16, kind >> 4 <= 1, kind & 15 <= 3 else { return false }
            let counts = Array(rest.prefix(16))
            let total = counts.reduce(0) { $0 + Int($1) }
            guard rest.count >= 16 + total,
                let table = HuffmanTable(counts: counts, values: Array(rest.dropFirst(16).prefix(total)))
            else { return false }
            if kind >> 4 == 0 {
                // Bits of a difference: libjpeg refuses the table for more.
                guard rest.dropFirst(16).prefix(total).allSatisfy({ $0 <= 15 }) else { return false }
                direct[Int(kind)] = table
            } else {
                alternating[Int(kind & 15)] = table
            }
            rest = rest.dropFirst(16 + total)
        }
        return true
    }

    private mutating func takeQuantizers(_ body: ArraySlice<UInt8>) -> Bool {
        var rest = body
        while let kind = rest.popFirst() {
            let size = kind >> 4 == 0 ? 1 : 2
            guard kind >> 4 <= 1, kind & 15 <= 3, rest.count >= 64 * size else { return false }
            let numbers = Array(rest.prefix(64 * size))
            quantizers[Int(kind & 15)] = (0..<64).map { index -> Int32 in
                let first = Int32(numbers[index * size])
                return size == 1 ? first : first << 8 | Int32(numbers[2 * index + 1])
            }
            rest = rest.dropFirst(64 * size)
        }
        return true
    }

    private mutating func takeRestartInterval(_ body: [UInt8]) -> Bool {
        guard body.count == 2 else { return false }
        restartInterval = Int(body[0]) << 8 | Int(body[1])
        return true
    }

    /// The frame with the tables its scan names; nil when the scan does not hold all components, from the first
    /// coefficient to the last.
    private func frame(scan: [UInt8], scanOffset: Int) -> BaselineFrame? {
        guard !parts.isEmpty, scan.count == 4 + 2 * parts.count, Int(scan[0]) == parts.count,
            scan.suffix(3) == [0, 63, 0]
        else { return nil }
        // The only component of a scan is stored block by block, whatever its factors.
        let isAlone = parts.count == 1
        let (across, down) = (
            isAlone ? 1 : parts.map(\.across).max() ?? 1, isAlone ? 1 : parts.map(\.down).max() ?? 1
        )
        var components: [BaselineFrame.Component] = []
        for (index, part) in parts.enumerated() {
            let (identifier, tables) = (scan[1 + 2 * index], scan[2 + 2 * index])
            guard identifier == part.identifier, let quantizers = quantizers[part.quantizer],
                let direct = direct[Int(tables >> 4)], let alternating = alternating[Int(tables & 15)]
            else { return nil }
            let (partAcross, partDown) = isAlone ? (1, 1) : (part.across, part.down)
            components.append(
                BaselineFrame.Component(
                    across: partAcross, down: partDown, width: Self.share(width, partAcross, of: across),
                    height: Self.share(height, partDown, of: down), quantizers: quantizers, direct: direct,
                    alternating: alternating))
        }
        return BaselineFrame(
            components: components, unitsAcross: Self.share(width, 1, of: 8 * across),
            unitsDown: Self.share(height, 1, of: 8 * down), restartInterval: restartInterval, scanOffset: scanOffset)
    }

    /// Rounded up, as T.81, A.1.1 wants it.
    private static func share(_ whole: Int, _ part: Int, of parts: Int) -> Int { (whole * part + parts - 1) / parts }
}
