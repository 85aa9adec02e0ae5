import Foundation
import MediaTypes
import TestSupport

@testable import MediaProcessing

/// A WebP built around the coded image of a sample: with an extended header, EXIF, a profile or other chunks.
struct SyntheticWebP {
    /// The coded image is 800 x 600.
    static let (width, height) = (800, 600)

    /// Flags of the extended header; nil for no header.
    var flags: UInt8?
    var (canvasWidth, canvasHeight) = (width, height)
    /// Chunks before and after the image.
    var before: [[UInt8]] = []
    var after: [[UInt8]] = []
    /// Bytes after the declared end of the file.
    var trailer: [UInt8] = []
    /// The content of `VP8 `.
    var image: [UInt8]

    init() throws { image = try Self.image(of: StillFixture.sample("grid.webp")) }

    static func image(of file: String) throws -> [UInt8] {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: file)))
        guard let range = try WebPChunkLayout(ByteWindow(bytes: bytes, noun: "WebP"))?.imageData else {
            throw GeneratedMedia.FixtureError(description: "unexpected sample")
        }
        return Array(bytes[range])
    }

    /// An EXIF block with the orientation only.
    static func exif(_ orientation: Int) -> [UInt8] {
        let entry = [0x12, 0x01, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0]
        return MediaBytes.text("II*\0") + [8, 0, 0, 0, 1, 0] + entry + MediaBytes.zeros(4)
    }

    /// The profile of sRGB or Display P3, from libvips.
    static func profile(_ name: String) throws -> [UInt8] {
        let jpeg = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).jpg").path
        try GeneratedMedia.run("vips", ["jpegsave", StillFixture.sample("grid.png"), jpeg, "--profile", name])
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: jpeg)))
        let segments = try JPEGSegments.parse(ByteWindow(bytes: bytes, noun: "JPEG"))
        return ICCProfile.joined(segments.profile.map { Array(bytes[$0]) }) ?? []
    }

    static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] { MediaBytes.riff(type, content) }

    var bytes: [UInt8] {
        let header = flags.map { flags in
            let size = MediaBytes.littleEndian(canvasWidth - 1, 3) + MediaBytes.littleEndian(canvasHeight - 1, 3)
            return Self.chunk("VP8X", [flags, 0, 0, 0] + size)
        }
        let chunks = [header ?? []] + before + [Self.chunk("VP8 ", image)] + after
        return MediaBytes.riff("RIFF", MediaBytes.text("WEBP") + chunks.flatMap { $0 }) + trailer
    }

    /// Writes the file and returns its path.
    func file() throws -> String { try GeneratedMedia.file("written.webp", bytes: bytes).path }
}
