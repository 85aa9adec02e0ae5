import Foundation
import TestSupport

/// A Matroska file whose times may be any number: pictures as JPEG, sound as 8-bit PCM of 8,000 Hz.
struct WrittenMatroska {
    /// A tenth of a second of either track.
    struct Block {
        /// In ticks of the file; nil is "unknown".
        var time: Int64?
        /// In ticks of the file; nil leaves it out.
        var duration: Int64?
        var isSound = false
    }

    /// Nanoseconds of a tick.
    var scale: UInt32 = 1_000_000
    var hasPictures = true
    var hasSound = false
    var blocks: [Block]

    func file() throws -> URL { try GeneratedMedia.file("written.mkv", bytes: bytes()) }

    private func bytes() throws -> [UInt8] {
        let info = MediaBytes.ebml(0x1549_A966, Self.number(0x2AD7B1, Int64(scale)))
        let tracks = MediaBytes.ebml(
            0x1654_AE6B, (hasPictures ? Self.pictures : []) + (hasSound ? Self.sound : []))
        let clusters = try blocks.flatMap(cluster)
        return MediaBytes.ebml(0x1A45_DFA3, MediaBytes.ebml(0x4282, Array("matroska".utf8)))
            + MediaBytes.ebml(0x1853_8067, info + tracks + clusters)
    }

    /// Each block has a cluster of its own, whose time has 64 bits.
    private func cluster(_ block: Block) throws -> [UInt8] {
        let data = block.isSound ? [UInt8](repeating: 128, count: 800) : try Self.picture()
        let content = MediaBytes.ebml(0xA1, [block.isSound ? 0x82 : 0x81, 0, 0, 0] + data)
        let duration = block.duration.map { Self.number(0x9B, $0) } ?? []
        return MediaBytes.ebml(
            0x1F43_B675,
            Self.number(0xE7, block.time ?? -1) + MediaBytes.ebml(0xA0, content + duration))
    }

    private static let pictures = MediaBytes.ebml(
        0xAE,
        number(0xD7, 1) + number(0x73C5, 1) + number(0x83, 1) + MediaBytes.ebml(0x86, Array("V_MJPEG".utf8))
            + MediaBytes.ebml(0xE0, number(0xB0, 64) + number(0xBA, 48)))

    private static let sound = MediaBytes.ebml(
        0xAE,
        number(0xD7, 2) + number(0x73C5, 2) + number(0x83, 2) + MediaBytes.ebml(0x86, Array("A_PCM/INT/LIT".utf8))
            + MediaBytes.ebml(0xE1, MediaBytes.ebml(0xB5, [0x45, 0xFA, 0, 0]) + number(0x9F, 1) + number(0x6264, 8)))

    private static func picture() throws -> [UInt8] {
        let file = try GeneratedMedia.file(
            "small.jpg", ["-f", "lavfi", "-i", "testsrc=size=64x48", "-frames:v", "1", "-pix_fmt", "yuvj420p"])
        return [UInt8](try Data(contentsOf: file))
    }

    private static func number(_ identifier: Int, _ value: Int64) -> [UInt8] {
        MediaBytes.ebml(identifier, WalkBytes.bigEndian(Int(value), 8))
    }
}
