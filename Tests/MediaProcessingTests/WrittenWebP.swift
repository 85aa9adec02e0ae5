import Foundation
import RichPush
import TestSupport

@testable import MediaProcessing

/// A WebP put together around the coded picture of a sample: with an extended header, EXIF, profile, and what else.
struct WrittenWebP {
    /// The coded picture is 800 x 600.
    static let (width, height) = (800, 600)

    /// What the extended header says is there; nil for none.
    var flags: UInt8?
    var (canvasWidth, canvasHeight) = (width, height)
    /// Chunks before and behind the picture.
    var before: [[UInt8]] = []
    var behind: [[UInt8]] = []
    /// Bytes behind the end that the file declares.
    var more: [UInt8] = []
    /// The content of `VP8 `.
    var picture: [UInt8]

    init() throws { picture = try Self.picture(of: StillFixture.sample("grid.webp")) }

    static func picture(of file: String) throws -> [UInt8] {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: file)))
        guard let place = try WebPChunkLayout(ByteWindow(bytes: bytes, noun: "WebP"))?.picture else {
            throw GeneratedMedia.Failure(description: "the sample is another one")
        }
        return Array(bytes[place])
    }

    /// A block that says how the picture stands, and nothing else.
    static func exif(_ orientation: Int) -> [UInt8] {
        let entry = [0x12, 0x01, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0]
        return MediaBytes.text("II*\0") + [8, 0, 0, 0, 1, 0] + entry + MediaBytes.zeros(4)
    }

    /// sRGB's profile or Display P3, from libvips.
    static func profile(_ name: String) throws -> [UInt8] {
        let jpeg = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).jpg").path
        try GeneratedMedia.run("vips", ["jpegsave", StillFixture.sample("grid.png"), jpeg, "--profile", name])
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: jpeg)))
        let segments = try JPEGSegments.walk(ByteWindow(bytes: bytes, noun: "JPEG"))
        return ICCProfile.joined(segments.profile.map { Array(bytes[$0]) }) ?? []
    }

    static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] { MediaBytes.riff(type, content) }

    var bytes: [UInt8] {
        let header = flags.map { flags in
            let size = MediaBytes.littleEndian(canvasWidth - 1, 3) + MediaBytes.littleEndian(canvasHeight - 1, 3)
            return Self.chunk("VP8X", [flags, 0, 0, 0] + size)
        }
        let chunks = [header ?? []] + before + [Self.chunk("VP8 ", picture)] + behind
        return MediaBytes.riff("RIFF", MediaBytes.text("WEBP") + chunks.flatMap { $0 }) + more
    }

    /// The path of the file.
    func file() throws -> String { try GeneratedMedia.file("written.webp", bytes: bytes).path }
}
