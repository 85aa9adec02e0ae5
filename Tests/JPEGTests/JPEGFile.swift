import Foundation
import Glibc
import TestSupport

@testable import JPEG

/// A JPEG made for a test by a program that is not ours, and its planes by both of our ways.
struct JPEGFile {
    let path: String

    private static let grid = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("samples/media/grid.png").path

    /// The samples' grid of 800 x 600 with noise in it, written by libjpeg-turbo's own program.
    ///
    /// - Parameters:
    ///   - crop: `WxH` of its corner, so that sides are not whole blocks.
    ///   - options: of cjpeg.
    init(_ options: [String], crop: String = "797x595") throws {
        let folder = GeneratedMedia.folder
        let pixels = folder.appendingPathComponent("\(UUID().uuidString).ppm").path
        let noise = ["-seed", "7", "-attenuate", "0.3", "+noise", "Gaussian"]
        try GeneratedMedia.run("convert", [Self.grid, "-crop", "\(crop)+0+0", "+repage"] + noise + [pixels])
        path = folder.appendingPathComponent("\(UUID().uuidString).jpg").path
        try GeneratedMedia.run("cjpeg", options + ["-outfile", path, pixels])
    }

    /// A file of these bytes.
    init(bytes: some Collection<UInt8>) throws {
        path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).jpg").path
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    var bytes: [UInt8] { get throws { try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) } }

    /// By libjpeg-turbo.
    func reference(eighths: Int) throws -> [JPEGPlane] {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        return try JPEGDecoder(descriptor: descriptor).planes(eighths: eighths)
    }

    /// By our own decoder; nil where it leaves the file to libjpeg.
    func planes(eighths: Int) -> [JPEGPlane]? {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        return BaselineDecoder.planes(descriptor: descriptor, eighths: eighths)
    }
}
