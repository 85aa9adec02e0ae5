import Foundation
import TestSupport

/// The image chunk of a WebP encoded by ImageMagick for a test.
struct WebPFile {
    let path: String
    let width: Int
    let height: Int
    /// The `VP8 ` chunk with its header.
    let chunk: [UInt8]

    /// A part of the sample grid.
    init(width: Int, height: Int, _ arguments: [String] = []) throws {
        (self.width, self.height) = (width, height)
        path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).webp").path
        let part = ["-crop", "\(width)x\(height)+9+5", "+repage", "-strip"]
        try GeneratedMedia.run("convert", [SourceTree.sample("grid.png")] + part + arguments + [path])
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        guard let start = bytes.firstRange(of: Array("VP8 ".utf8))?.lowerBound else {
            throw GeneratedMedia.FixtureError(description: "no lossy WebP")
        }
        let length = bytes[(start + 4)..<(start + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
        chunk = Array(bytes[start..<(start + 8 + length)])
    }

    /// The components as decoded by FFmpeg.
    func reference() throws -> [UInt8] {
        let output = ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-"]
        return try [UInt8](GeneratedMedia.run("ffmpeg", ["-v", "error", "-nostdin", "-i", path] + output))
    }
}
