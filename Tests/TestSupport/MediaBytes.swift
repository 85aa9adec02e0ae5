/// Concatenates bytes. Unlike `+`, it has one overload, so that the compiler type-checks long expressions quickly.
infix operator ++ : AdditionPrecedence

public func ++ (left: [UInt8], right: [UInt8]) -> [UInt8] { left + right }

/// Builds the bytes of media formats by hand.
public enum MediaBytes {
    public static func bigEndian(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    public static func littleEndian(_ value: Int, _ count: Int) -> [UInt8] { bigEndian(value, count).reversed() }

    public static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    public static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    public static func repeated(_ part: [UInt8], _ times: Int) -> [UInt8] {
        var all: [UInt8] = []
        all.reserveCapacity(part.count * times)
        for _ in 0..<times { all += part }
        return all
    }

    /// A box of ISO base media; `size` overrides its size field.
    public static func box(_ type: String, _ content: [UInt8] = [], size: Int? = nil) -> [UInt8] {
        bigEndian(size ?? content.count + 8, 4) + text(type) + content
    }

    /// A box with a version and flags.
    public static func fullBox(_ type: String, _ content: [UInt8] = [], version: Int = 0, flags: Int = 0) -> [UInt8] {
        box(type, bigEndian(version << 24 | flags, 4) + content)
    }

    /// A chunk of RIFF, padded; `size` overrides its size field.
    public static func riff(_ type: String, _ content: [UInt8], size: Int? = nil) -> [UInt8] {
        text(type) + littleEndian(size ?? content.count, 4) + content + (content.count % 2 == 1 ? [0] : [])
    }

    /// A chunk of PNG, with its checksum.
    public static func png(_ type: String, _ content: [UInt8] = []) -> [UInt8] {
        let body = text(type) + content
        return bigEndian(content.count, 4) + body + bigEndian(Int(MediaChecksums.png(body)), 4)
    }

    public static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// A PNG's header, by default with 8 bits per component; color type 2 is RGB, 0 gray, 3 palette.
    public static func pngHeader(_ width: Int, _ height: Int, colorType: UInt8 = 2, depth: UInt8 = 8) -> [UInt8] {
        png("IHDR", bigEndian(width, 4) + bigEndian(height, 4) + [depth, colorType, 0, 0, 0])
    }

    /// A JPEG segment; `length` overrides its length field.
    public static func jpeg(_ marker: UInt8, _ content: [UInt8], length: Int? = nil) -> [UInt8] {
        [0xFF, marker] + bigEndian(length ?? content.count + 2, 2) + content
    }

    /// An EBML element with a size field of eight bytes; nil is "unknown".
    public static func ebml(_ identifier: Int, _ content: [UInt8], size: Int?) -> [UInt8] {
        let width = identifier > 0xFF_FFFF ? 4 : identifier > 0xFFFF ? 3 : identifier > 0xFF ? 2 : 1
        let length: [UInt8] = size.map { [0x01] + bigEndian($0, 7) } ?? [UInt8](repeating: 0xFF, count: 1)
        return bigEndian(identifier, width) + length + content
    }

    public static func ebml(_ identifier: Int, _ content: [UInt8]) -> [UInt8] {
        ebml(identifier, content, size: content.count)
    }

    /// A page of Ogg, with its checksum; `flags` 2 begins a stream, 4 ends it.
    public static func ogg(_ content: [UInt8], page: Int, flags: UInt8 = 0, granule: Int = 0) -> [UInt8] {
        let full = content.count / 255
        let segments = [UInt8](repeating: 255, count: full) + [UInt8(content.count % 255)]
        var bytes =
            text("OggS") + [0, flags] + littleEndian(granule, 8) + littleEndian(1, 4) + littleEndian(page, 4)
            + zeros(4) + [UInt8(segments.count)] + segments + content
        MediaChecksums.repair(&bytes)
        return bytes
    }

    /// A zlib stream that unpacks to `unpackedBytes` zeros, 158 times its size.
    public static func zlibBomb(_ unpackedBytes: Int) -> [UInt8] {
        let runs = unpackedBytes / 258
        let bytes = runs * 258 + 1
        let sum = (bytes % 65_521) << 16 | 1
        // Eight runs are thirteen bytes, which repeat: only the rest is built bit by bit.
        let few = min(runs, runs % 8 + 16)
        var stream = deflateBomb(runs: few)
        if runs > few {
            stream.insert(contentsOf: repeated(Array(stream[2..<15]), (runs - few) / 8), at: 2)
        }
        return [0x78, 0x9C] + stream + bigEndian(sum, 4)
    }

    /// A deflate stream with the fixed codes: one zero and `runs` of 258 zeros.
    private static func deflateBomb(runs: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(runs * 13 / 8 + 16)
        var pending: UInt32 = 0
        var count: UInt32 = 0
        func put(_ value: UInt32, _ bits: UInt32) {
            pending |= value << count
            count += bits
            while count >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: pending))
                pending >>= 8
                count -= 8
            }
        }
        // Last block, fixed codes; Huffman codes are written first bit first.
        put(0b1, 1)
        put(0b01, 2)
        put(0b0000_1100, 8)
        for _ in 0..<runs {
            put(0b1010_0011, 8)
            put(0, 5)
        }
        put(0, 7)
        put(0, 7)
        return bytes
    }
}
