import Foundation
import TestSupport

/// The picture of a WebP made for a test by ImageMagick.
struct WebPFile {
    let path: String
    let width: Int
    let height: Int
    /// `VP8 ` with its header.
    let chunk: [UInt8]

    /// A part of the samples' grid.
    init(width: Int, height: Int, _ arguments: [String] = []) throws {
        (self.width, self.height) = (width, height)
        path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).webp").path
        let part = ["-crop", "\(width)x\(height)+9+5", "+repage", "-strip"]
        try GeneratedMedia.run("convert", [SourceTree.sample("grid.png")] + part + arguments + [path])
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        guard let place = bytes.firstRange(of: Array("VP8 ".utf8))?.lowerBound else {
            throw GeneratedMedia.Failure(description: "no lossy WebP")
        }
        let length = bytes[(place + 4)..<(place + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
        chunk = Array(bytes[place..<(place + 8 + length)])
    }

    /// Its components by a decoder that is not libwebp.
    func reference() throws -> [UInt8] {
        let output = ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-"]
        return try [UInt8](GeneratedMedia.run("ffmpeg", ["-v", "error", "-nostdin", "-i", path] + output))
    }
}
