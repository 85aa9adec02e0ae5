import Foundation
import Glibc
import TestSupport

@testable import MediaLibraries

/// A JPEG encoded by cjpeg for a test, and its planes by both decoders.
struct JPEGFile {
    let path: String

    /// The sample grid of 800 x 600 with added noise, encoded by cjpeg of libjpeg-turbo.
    ///
    /// - Parameters:
    ///   - crop: `WxH` of its top left corner, so that the sides are not multiples of a block.
    ///   - options: Options of cjpeg.
    init(_ options: [String], crop: String = "797x595") throws {
        let folder = GeneratedMedia.folder
        let pixels = folder.appendingPathComponent("\(UUID().uuidString).ppm").path
        let noise = ["-seed", "7", "-attenuate", "0.3", "+noise", "Gaussian"]
        let part = ["-crop", "\(crop)+0+0", "+repage"]
        try GeneratedMedia.run("convert", [SourceTree.sample("grid.png")] + part + noise + [pixels])
        path = folder.appendingPathComponent("\(UUID().uuidString).jpg").path
        try GeneratedMedia.run("cjpeg", options + ["-outfile", path, pixels])
    }

    /// A file with the given bytes.
    init(bytes: some Collection<UInt8>) throws {
        path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).jpg").path
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    var bytes: [UInt8] { get throws { try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) } }

    /// The planes as decoded by libjpeg-turbo.
    func reference(eighths: Int) throws -> [JPEGPlane] {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        return try JPEGDecoder(descriptor: descriptor).planes(eighths: eighths)
    }

    /// The planes as decoded by `BaselineDecoder`; nil if it leaves the file to libjpeg.
    func planes(eighths: Int) -> [JPEGPlane]? {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        guard case .planes(let planes) = BaselineDecoder.read(descriptor: descriptor, eighths: eighths) else {
            return nil
        }
        return planes
    }
}
