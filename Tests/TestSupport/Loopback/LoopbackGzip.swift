import Foundation

/// Hand-made gzip streams, valid and malicious.
public enum LoopbackGzip {
    /// A valid stream of stored blocks: larger than its content.
    public static func stored(_ content: Data) -> Data {
        var stream = header
        var rest = content
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            stream += [rest.isEmpty ? 1 : 0] + littleEndian(length) + littleEndian(~length) + block
        } while !rest.isEmpty
        return stream + littleEndian(crc32(content)) + littleEndian(UInt32(content.count))
    }

    /// A stream of zeros that unpacks to about 158 times its size; its trailer is wrong, since no reader reaches it.
    public static func bomb(unpackedBytes: Int) -> Data {
        var bits = BitWriter()
        bits.write(0b1, count: 1)  // the last block
        bits.write(0b01, count: 2)  // with the fixed codes
        bits.writeCode(0b0011_0000, count: 8)  // the byte 0
        for _ in 0..<(unpackedBytes / 258) {
            bits.writeCode(0b1100_0101, count: 8)  // 258 bytes…
            bits.writeCode(0b00000, count: 5)  // …from 1 byte back
        }
        bits.writeCode(0b000_0000, count: 7)  // the end
        return header + bits.bytes + littleEndian(UInt32(0)) + littleEndian(UInt32(unpackedBytes))
    }

    /// A stream made by `bomb`, preceded by other content.
    public static func begin(with content: Data, _ bomb: Data) -> Data {
        let length = UInt16(content.count)
        return header + [0] + littleEndian(length) + littleEndian(~length) + content + bomb.dropFirst(header.count)
    }

    /// A header with a file name of `bytes` letters, without the terminating zero byte.
    public static func endlessName(bytes: Int) -> Data {
        var start = header
        start[3] = 8
        return start + Data(repeating: UInt8(ascii: "a"), count: bytes)
    }

    /// Raw deflate data, as some servers send it as `Content-Encoding: deflate`.
    public static func bare(_ content: Data) -> Data { stored(content).dropFirst(header.count).dropLast(8) }

    /// Deflate data in a zlib container.
    public static func zlib(_ content: Data) -> Data {
        var (low, high) = (UInt32(1), UInt32(0))
        for byte in content {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return Data([0x78, 0x01]) + bare(content) + withUnsafeBytes(of: (high << 16 | low).bigEndian) { Data($0) }
    }

    private static let header = Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

    private static func littleEndian(_ number: some FixedWidthInteger) -> Data {
        withUnsafeBytes(of: number.littleEndian) { Data($0) }
    }

    private static func crc32(_ content: Data) -> UInt32 {
        var crc = ~UInt32(0)
        for byte in content {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xedb8_8320 : crc >> 1 }
        }
        return ~crc
    }

    private struct BitWriter {
        var bytes = Data()
        private var pending: UInt32 = 0
        private var pendingCount: UInt32 = 0

        /// Numbers are written lowest bit first.
        mutating func write(_ value: UInt32, count: UInt32) {
            pending |= value << pendingCount
            pendingCount += count
            while pendingCount >= 8 {
                bytes.append(UInt8(pending & 0xff))
                pending >>= 8
                pendingCount -= 8
            }
        }

        /// Huffman codes are written highest bit first.
        mutating func writeCode(_ code: UInt32, count: UInt32) {
            for bit in (0..<count).reversed() { write(code >> bit & 1, count: 1) }
        }
    }
}
