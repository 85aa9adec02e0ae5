import Foundation
import TestSupport

/// Files that no encoder would write.
enum HandmadeMedia {
    /// A PNG that declares this size, with almost no pixel data.
    static func png(width: Int, height: Int) -> Data {
        let header: [UInt8] = bigEndian(width) + bigEndian(height) + [8, 2, 0, 0, 0]
        // An empty zlib stream.
        let pixels: [UInt8] = [0x78, 0x9c, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01]
        return hexadecimal("89504e470d0a1a0a") + chunk("IHDR", header) + chunk("IDAT", pixels) + chunk("IEND", [])
    }

    /// An animated GIF of one pixel with this number of frames.
    static func gif(frames: Int) -> Data {
        let head = hexadecimal(
            "474946383961 0100 0100 80 00 00 000000 ffffff 21ff0b 4e45545343415045322e30 0301 0000 00")
        let frame = hexadecimal("21f904 04 0a00 00 00 2c 0000 0000 0100 0100 00 02 02 4401 00")
        return head + Data(repeatElement(frame, count: frames).joined()) + [0x3b]
    }

    /// Silence of this duration, at 100 samples of one byte per second.
    static func wave(seconds: Int) -> Data {
        let samples = seconds * 100
        let rates = littleEndian(100) + littleEndian(100)
        let format: [UInt8] = littleEndian(16) + [1, 0, 1, 0] + rates + [1, 0, 8, 0]
        let head: [UInt8] = Array("RIFF".utf8) + littleEndian(36 + samples) + Array("WAVEfmt ".utf8) + format
        return Data(head) + Data("data".utf8) + littleEndian(samples) + Data(repeating: 128, count: samples)
    }

    /// A MIDI file without notes.
    static let midi = hexadecimal("4d546864 00000006 0000 0001 0060 4d54726b 00000004 00ff2f00")

    /// A ZIP archive with one empty file, "a".
    static let zip = hexadecimal(
        """
        504b0304 1400 0000 0000 0000 0000 00000000 00000000 00000000 0100 0000 61
        504b0102 1400 1400 0000 0000 0000 0000 00000000 00000000 00000000 0100 0000 0000 0000 0000 00000000 00000000 61
        504b0506 0000 0000 0100 0100 2f000000 1f000000 0000
        """)

    /// A movie with encrypted samples, as in a download of a protected stream.
    static func encryptedMovie() async throws -> URL {
        try await file(
            "encrypted.mp4",
            [
                "-i", SourceTree.sample("clock.mp4"), "-c", "copy", "-encryption_scheme", "cenc-aes-ctr",
                "-encryption_key", "76a6c65c5ea762046bd749a2e632ccbb", "-encryption_kid",
                "a7e61c373e219033c21091fa607bf3b8",
            ])
    }

    /// A black PNG of 100 megapixels, which takes a decoder at least half a second.
    static func slowImage() async throws -> URL {
        try await file("slow.png", ["-f", "lavfi", "-i", "color=black:s=10000x10000", "-frames:v", "1"])
    }

    private static func file(_ name: String, _ arguments: [String]) async throws -> URL {
        try await onOwnThread { try GeneratedMedia.file(name, arguments) }
    }

    private static func hexadecimal(_ text: String) -> Data {
        let digits = text.compactMap(\.hexDigitValue)
        return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    private static func chunk(_ name: String, _ bytes: [UInt8]) -> Data {
        let body = Array(name.utf8) + bytes
        return Data(bigEndian(bytes.count) + body + bigEndian(Int(checksum(body))))
    }

    /// CRC-32 as PNG defines it.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
        }
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func littleEndian(_ number: Int) -> [UInt8] { bigEndian(number).reversed() }
}
