import Foundation
import RichPush
import TestSupport
import Testing

/// A movie whose track header holds one of the eight matrices; ffmpeg 5.1 writes four of them only.
enum OrientedMovie {
    static func file(_ orientation: Orientation) throws -> URL {
        var bytes = [UInt8](
            try Data(contentsOf: GeneratedMedia.numbered("turn.mp4", "-t 1 -an -c:v libx264 -pix_fmt yuv420p")))
        let header = try #require(bytes.firstRange(of: Array("tkhd".utf8)))
        let matrix = header.upperBound + 40
        for (index, value) in fields(orientation).enumerated() {
            bytes.replaceSubrange(
                matrix + index * 4..<matrix + index * 4 + 4, with: WalkBytes.bigEndian(value << 16, 4))
        }
        return try GeneratedMedia.file("turned.mp4", bytes: bytes)
    }

    /// a, b, u, c, d.
    private static func fields(_ orientation: Orientation) -> [Int] {
        switch orientation {
        case .upright: [1, 0, 0, 0, 1]
        case .mirrored: [-1, 0, 0, 0, 1]
        case .rotated180: [-1, 0, 0, 0, -1]
        case .mirroredRotated180: [1, 0, 0, 0, -1]
        case .transposed: [0, 1, 0, 1, 0]
        case .rotated90: [0, 1, 0, -1, 0]
        case .transversed: [0, -1, 0, -1, 0]
        case .rotated270: [0, -1, 0, 1, 0]
        }
    }
}
