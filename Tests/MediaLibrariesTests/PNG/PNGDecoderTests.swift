import Foundation
import Glibc
import TestSupport
import Testing

@testable import MediaLibraries

struct PNGDecoderTests {
    private static let clear = ["-alpha", "set", "-channel", "A", "-evaluate", "set", "40%", "+channel"]
    private static let gray = ["-colorspace", "Gray", "-alpha", "off"]

    @Test(arguments: [
        (arguments: [], kind: "PNG24", samples: PNGDecoder.SampleFormat.rgb, name: "rgb"),
        (arguments: clear, kind: "PNG32", samples: .rgba, name: "rgba"),
        (arguments: gray + ["-define", "png:color-type=0"], kind: "PNG", samples: .gray, name: "gray"),
        (arguments: gray + ["-define", "png:color-type=0", "-depth", "2"], kind: "PNG", samples: .gray, name: "gray"),
        (arguments: clear + ["-define", "png:color-type=4"], kind: "PNG", samples: .rgba, name: "rgba"),
        (arguments: ["-colors", "30"], kind: "PNG8", samples: .rgb, name: "rgb"),
        (arguments: ["-transparent", "white"], kind: "PNG8", samples: .rgba, name: "rgba"),
    ])
    func `Every kind of PNG gives the same pixels as ImageMagick`(
        _ row: (arguments: [String], kind: String, samples: PNGDecoder.SampleFormat, name: String)
    ) throws {
        let file = try PNGFile(row.arguments, as: row.kind)
        #expect(try file.fact { $0.samples } == row.samples)
        #expect(try file.fact { [$0.width, $0.height] } == [397, 295])
        let pixels = try file.pixels()
        #expect(pixels.count == 397 * 295 * row.samples.rawValue)
        #expect(try pixels == file.reference(row.name))
    }

    @Test func `Interlacing, bit depth, profile and EXIF are known before the rows`() throws {
        #expect(try PNGFile(["-interlace", "PNG"]).fact { $0.isInterlaced })
        #expect(try !PNGFile([]).fact { $0.isInterlaced })
        #expect(try PNGFile([], as: "PNG48").fact { $0.bitDepth } == 16)
        #expect(try PNGFile([]).fact { $0.colorProfile } == nil)
        #expect(try !PNGFile([]).fact { $0.hasExif })
    }

    @Test(arguments: [0.0, 0.3, 0.9, 0.999]) func `A truncated file is an error`(share: Double) throws {
        let complete = try PNGFile([]).bytes
        let truncated = try PNGFile(bytes: Array(complete.prefix(Int(Double(complete.count) * share))))
        #expect(throws: PNGError.self) { try truncated.pixels() }
    }

    @Test(arguments: ["IDAT", "IEND"]) func `A wrong checksum is an error`(chunk: String) throws {
        var bytes = try PNGFile([]).bytes
        let type = try #require(bytes.firstRange(of: Array(chunk.utf8)))
        let length = bytes[(type.lowerBound - 4)..<type.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        bytes[type.upperBound + length] ^= 0x10
        #expect(throws: PNGError.self) { try PNGFile(bytes: bytes).pixels() }
    }

    @Test(arguments: [1_000, 40_000]) func `A file that is downloaded in pieces gives the same pixels`(
        piece: Int
    ) throws {
        let noise = ["-seed", "7", "-attenuate", "0.3", "+noise", "Gaussian"]
        let file = try PNGFile(noise)
        let bytes = try file.bytes
        let partial = try PNGFile(bytes: Array(bytes.prefix(2_000)))
        let target = open(partial.path, O_WRONLY)
        defer { close(target) }
        var written = 2_000
        let pixels = try partial.pixels {
            guard written < bytes.count else { return false }
            let next = Array(bytes[written..<min(written + piece, bytes.count)])
            written += pwrite(target, next, next.count, off_t(written))
            return true
        }
        #expect(written == bytes.count)
        #expect(try pixels == file.pixels())
    }

    @Test func `An interlaced file is an error, since its rows are not in order`() throws {
        let file = try PNGFile(["-interlace", "PNG"])
        #expect(throws: PNGError.self) { try file.pixels() }
    }

    @Test func `A header with rows too large to allocate gives an unknown result`() throws {
        let header: [UInt8] = [0x49, 0x48, 0x44, 0x52, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1, 16, 6, 0, 0, 0]
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let file = try PNGFile(bytes: signature + [0, 0, 0, 13] + header + [0xF0, 0xA6, 0xEF, 0x9E])
        let descriptor = open(file.path, O_RDONLY)
        defer { close(descriptor) }
        #expect(PNGValidation(descriptor: descriptor) == .unknown)
    }

    @Test func `An error thrown by the row callback ends decoding`() throws {
        struct StopError: Error {}
        let file = try PNGFile([])
        let descriptor = open(file.path, O_RDONLY)
        defer { close(descriptor) }
        var rows = 0
        #expect(throws: StopError.self) {
            try PNGDecoder(descriptor: descriptor).decode { _ in
                rows += 1
                if rows == 3 { throw StopError() }
            }
        }
        #expect(rows == 3)
    }
}
