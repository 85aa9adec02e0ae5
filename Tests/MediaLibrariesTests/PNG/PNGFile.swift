import Foundation
import Glibc
import TestSupport

@testable import MediaLibraries

/// A PNG encoded by ImageMagick for a test, and its rows.
struct PNGFile {
    let path: String

    /// A part of the sample grid with odd sides, converted by ImageMagick; `kind` is the prefix of the target.
    init(_ arguments: [String], as kind: String = "PNG24") throws {
        path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).png").path
        try GeneratedMedia.run(
            "convert",
            [SourceTree.sample("grid.png"), "-crop", "397x295+9+5", "+repage"] + arguments + ["\(kind):\(path)"])
    }

    /// A file with the given bytes.
    init(bytes: [UInt8]) throws {
        path = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString).png").path
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    var bytes: [UInt8] { get throws { try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) } }

    /// A fact that the decoder knows before its first row.
    func fact<Fact>(_ read: (PNGDecoder) -> Fact) throws -> Fact {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        return try read(PNGDecoder(descriptor: descriptor))
    }

    /// All rows, concatenated.
    func pixels(_ waitForMore: @escaping () -> Bool = { false }) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var pixels: [UInt8] = []
        try unsafe PNGDecoder(descriptor: descriptor, waitForMore: waitForMore).decode { unsafe pixels += $0 }
        return pixels
    }

    /// The pixels as decoded by ImageMagick: `gray`, `rgb` or `rgba`.
    func reference(_ samples: String) throws -> [UInt8] {
        try [UInt8](GeneratedMedia.run("convert", [path, "-depth", "8", "\(samples):-"]))
    }

    func validation() throws -> PNGValidation {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        return PNGValidation(descriptor: descriptor)
    }

    /// The filter of each row of a file with one IDAT, as Python's zlib decompresses it.
    func filters(rowBytes: Int) throws -> [UInt8] {
        let program = """
            import sys, zlib
            data = open(sys.argv[1], 'rb').read()
            start = data.index(b'IDAT') + 4
            rows = zlib.decompress(data[start:start + int.from_bytes(data[start - 8:start - 4], 'big')])
            sys.stdout.buffer.write(rows[::int(sys.argv[2]) + 1])
            """
        return try [UInt8](GeneratedMedia.run("python3", ["-c", program, path, "\(rowBytes)"]))
    }
}
