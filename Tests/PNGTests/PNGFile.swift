import Foundation
import Glibc
import TestSupport

@testable import PNG

/// A PNG made for a test by ImageMagick, and its rows.
struct PNGFile {
    let path: String

    private static let grid = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("samples/media/grid.png").path

    /// The samples' grid, an odd part of it, put through `convert`; the target's prefix says how it is stored.
    init(_ arguments: [String], as kind: String = "PNG24") throws {
        path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).png").path
        try GeneratedMedia.run(
            "convert", [Self.grid, "-crop", "397x295+9+5", "+repage"] + arguments + ["\(kind):\(path)"])
    }

    /// A file of these bytes.
    init(bytes: [UInt8]) throws {
        path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).png").path
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    var bytes: [UInt8] { get throws { try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) } }

    /// What the decoder says before its first row.
    func facts<Fact>(_ read: (PNGDecoder) -> Fact) throws -> Fact {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        return try read(PNGDecoder(descriptor: descriptor))
    }

    /// All rows, one behind the other.
    func pixels(_ waitForMore: @escaping () -> Bool = { false }) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var pixels: [UInt8] = []
        try unsafe PNGDecoder(descriptor: descriptor, waitForMore: waitForMore).decode { unsafe pixels += $0 }
        return pixels
    }

    /// The same by ImageMagick: `gray`, `rgb` or `rgba`.
    func reference(_ samples: String) throws -> [UInt8] {
        try [UInt8](GeneratedMedia.run("convert", [path, "-depth", "8", "\(samples):-"]))
    }
}
