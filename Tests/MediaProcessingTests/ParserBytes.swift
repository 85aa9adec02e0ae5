import MediaProcessing

/// Bytes for parser tests, built as the formats define them.
enum ParserBytes {
    static func bigEndian(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    static func littleEndian(_ value: Int, _ count: Int) -> [UInt8] { bigEndian(value, count).reversed() }

    static func box(_ type: String, _ content: [UInt8] = []) -> [UInt8] {
        bigEndian(content.count + 8, 4) + Array(type.utf8) + content
    }

    static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        Array(type.utf8) + littleEndian(content.count, 4) + content + (content.count % 2 == 1 ? [0] : [])
    }

    /// A silent frame of MPEG-1 layer III; by default 128 kbit/s, 44,100 Hz, mono: 417 bytes.
    static func mp3Frame(header: [UInt8] = [0xFF, 0xFB, 0x90, 0xC0], length: Int = 417) -> [UInt8] {
        header + [UInt8](repeating: 0, count: length - 4)
    }

    static func window(_ bytes: [UInt8]) -> ByteWindow { ByteWindow(bytes: bytes, noun: "file") }
}
