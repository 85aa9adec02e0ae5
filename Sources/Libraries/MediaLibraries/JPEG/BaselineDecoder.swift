import Glibc
import Linux

/// Fast decoder for small renditions of baseline JPEGs, the most common kind. All other kinds are left to
/// libjpeg-turbo.
package enum BaselineDecoder {
    /// The supported reductions in eighths, for which most AC coefficients need not be decoded.
    package static let reductions = 1...2

    /// The result of decoding a file.
    package enum Reading: Sendable, Hashable {
        /// All components, luma first, chroma at the size it is stored at.
        case planes([JPEGPlane])
        /// All of the image is there, but not the end marker.
        case endMissing
        /// Data is damaged or missing.
        case damaged
        /// Another kind of JPEG, or an error in the headers: libjpeg-turbo decides.
        case unsupported
    }

    /// Decodes to EOI at one or two eighths of the size.
    ///
    /// The check is at least as strict as libjpeg-turbo's. libjpeg-turbo must have read the header successfully before.
    ///
    /// - Parameter waitForMore: Called at the end of the file; returns whether more bytes were written. The headers
    ///   must be there already.
    package static func read(
        descriptor: CInt, eighths: Int, waitForMore: @escaping () -> Bool = { false }
    ) -> Reading {
        precondition(reductions.contains(eighths), "unsupported reduction")
        guard let frame = BaselineHeader.read(descriptor: descriptor) else { return .unsupported }
        var scan = BaselineScan(frame, descriptor: descriptor, eighths: eighths, waitForMore: waitForMore)
        do throws(ScanError) {
            return .planes(try scan.decode())
        } catch {
            return error == .endMissing ? .endMissing : .damaged
        }
    }

    /// The share of MCUs of a damaged file that are shown as they were, 0 to 1.
    package static func intactShare(descriptor: CInt) -> Double {
        guard let frame = BaselineHeader.read(descriptor: descriptor) else { return 0 }
        var scan = BaselineScan(frame, descriptor: descriptor, eighths: 1) { false }
        return scan.intactShare()
    }
}

/// The headers of a baseline JPEG: a single scan of 8-bit samples with sequential Huffman coding that holds all
/// components.
///
/// Source: ITU-T T.81, annex B.
struct BaselineFrame: Sendable {
    struct Component: Sendable {
        /// Blocks of an MCU, horizontally and vertically.
        let horizontalSampling: Int
        let verticalSampling: Int
        /// Samples of the whole image, before any reduction.
        let width: Int
        let height: Int
        /// The quantization table, in zigzag order.
        let quantizers: [Int32]
        let dc: HuffmanTable
        let ac: HuffmanTable
    }

    let components: [Component]
    /// MCUs across and down.
    let mcusAcross: Int
    let mcusDown: Int
    /// MCUs between two restart markers; 0 without restart markers.
    let restartInterval: Int
    /// File offset of the first byte of entropy-coded data.
    let scanOffset: Int
}

/// Reads the segments of a JPEG up to its first scan.
///
/// Source: ITU-T T.81, B.2.
struct BaselineHeader {
    private struct FramePart {
        let identifier: UInt8
        let horizontalSampling: Int
        let verticalSampling: Int
        let quantizer: Int
    }

    /// Bytes of headers that are read; a file with longer headers is left to libjpeg.
    private static let bytesMax = 1_048_576

    private var quantizers: [Int: [Int32]] = [:]
    private var dc: [Int: HuffmanTable] = [:]
    private var ac: [Int: HuffmanTable] = [:]
    private var parts: [FramePart] = []
    private var width = 0
    private var height = 0
    private var restartInterval = 0

    /// Nil for another kind of JPEG, and for one with an error; both are left to libjpeg.
    static func read(descriptor: CInt) -> BaselineFrame? {
        var header = BaselineHeader()
        guard bytes(of: descriptor, at: 0, count: 2) == [0xFF, 0xD8] else { return nil }
        var offset = 2
        while offset < bytesMax, let head = bytes(of: descriptor, at: offset, count: 4), head[0] == 0xFF {
            let length = Int(head[2]) << 8 | Int(head[3])
            guard length >= 2 else { return nil }
            // Application data, such as a large EXIF block, is not needed here.
            if isSkipped(head[1]) {
                offset += 2 + length
                continue
            }
            guard let body = bytes(of: descriptor, at: offset + 4, count: length - 2) else { return nil }
            offset += 2 + length
            if head[1] == 0xDA { return header.frame(scan: body, scanOffset: offset) }
            guard header.readSegment(head[1], body: body) else { return nil }
        }
        return nil
    }

    private static func isSkipped(_ marker: UInt8) -> Bool { (0xE0...0xEF).contains(marker) || marker == 0xFE }

    private static func bytes(of descriptor: CInt, at offset: Int, count: Int) -> [UInt8]? {
        let found = try? FileIO.bytes(descriptor, at: offset, count: count)
        return found?.count == count ? found : nil
    }

    /// Reads one segment; false if it does not belong to a baseline JPEG.
    private mutating func readSegment(_ marker: UInt8, body: [UInt8]) -> Bool {
        switch marker {
        case 0xC0, 0xC1: readFrame(body)
        case 0xC4: readHuffmanTables(body[...])
        case 0xDB: readQuantizers(body[...])
        case 0xDD: readRestartInterval(body)
        default: false
        }
    }

    private mutating func readFrame(_ body: [UInt8]) -> Bool {
        guard parts.isEmpty, body.count >= 6, body[0] == 8 else { return false }
        height = Int(body[1]) << 8 | Int(body[2])
        width = Int(body[3]) << 8 | Int(body[4])
        let count = Int(body[5])
        guard count == 1 || count == 3, body.count == 6 + 3 * count, width > 0, height > 0 else { return false }
        for index in 0..<count {
            let part = body[(6 + 3 * index)...].prefix(3)
            let (horizontal, vertical) = (Int(part[part.startIndex + 1] >> 4), Int(part[part.startIndex + 1] & 15))
            guard (1...4).contains(horizontal), (1...4).contains(vertical) else { return false }
            parts.append(
                FramePart(
                    identifier: part[part.startIndex], horizontalSampling: horizontal, verticalSampling: vertical,
                    quantizer: Int(part[part.startIndex + 2])))
        }
        // libjpeg renames components that share an identifier.
        guard Set(parts.map(\.identifier)).count == parts.count else { return false }
        // An MCU has at most ten blocks: T.81, B.2.3.
        return parts.reduce(0) { $0 + $1.horizontalSampling * $1.verticalSampling } <= 10
    }

    private mutating func readHuffmanTables(_ body: ArraySlice<UInt8>) -> Bool {
        var rest = body
        while let kind = rest.popFirst() {
            guard rest.count >= 16, kind >> 4 <= 1, kind & 15 <= 3 else { return false }
            let counts = Array(rest.prefix(16))
            let total = counts.reduce(0) { $0 + Int($1) }
            guard rest.count >= 16 + total,
                let table = HuffmanTable(counts: counts, values: Array(rest.dropFirst(16).prefix(total)))
            else { return false }
            if kind >> 4 == 0 {
                // The symbol is the number of bits of a DC difference: libjpeg rejects a table with more than 15.
                guard rest.dropFirst(16).prefix(total).allSatisfy({ $0 <= 15 }) else { return false }
                dc[Int(kind)] = table
            } else {
                ac[Int(kind & 15)] = table
            }
            rest = rest.dropFirst(16 + total)
        }
        return true
    }

    private mutating func readQuantizers(_ body: ArraySlice<UInt8>) -> Bool {
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

    private mutating func readRestartInterval(_ body: [UInt8]) -> Bool {
        guard body.count == 2 else { return false }
        restartInterval = Int(body[0]) << 8 | Int(body[1])
        return true
    }

    /// The frame with the tables that its scan selects; nil unless the scan holds all components and all coefficients.
    private func frame(scan: [UInt8], scanOffset: Int) -> BaselineFrame? {
        guard !parts.isEmpty, scan.count == 4 + 2 * parts.count, Int(scan[0]) == parts.count,
            scan.suffix(3) == [0, 63, 0]
        else { return nil }
        // A scan with a single component is stored block by block, whatever its sampling factors.
        let isAlone = parts.count == 1
        let horizontalMax = isAlone ? 1 : parts.map(\.horizontalSampling).max() ?? 1
        let verticalMax = isAlone ? 1 : parts.map(\.verticalSampling).max() ?? 1
        var components: [BaselineFrame.Component] = []
        for (index, part) in parts.enumerated() {
            let (identifier, tables) = (scan[1 + 2 * index], scan[2 + 2 * index])
            guard identifier == part.identifier, let quantizers = quantizers[part.quantizer],
                let dc = dc[Int(tables >> 4)], let ac = ac[Int(tables & 15)]
            else { return nil }
            let (horizontal, vertical) = isAlone ? (1, 1) : (part.horizontalSampling, part.verticalSampling)
            components.append(
                BaselineFrame.Component(
                    horizontalSampling: horizontal, verticalSampling: vertical,
                    width: Self.share(width, part: horizontal, of: horizontalMax),
                    height: Self.share(height, part: vertical, of: verticalMax), quantizers: quantizers, dc: dc, ac: ac)
            )
        }
        return BaselineFrame(
            components: components, mcusAcross: Self.share(width, part: 1, of: 8 * horizontalMax),
            mcusDown: Self.share(height, part: 1, of: 8 * verticalMax), restartInterval: restartInterval,
            scanOffset: scanOffset)
    }

    /// Rounds up, as T.81, A.1.1 specifies.
    private static func share(_ whole: Int, part: Int, of parts: Int) -> Int { (whole * part + parts - 1) / parts }
}
