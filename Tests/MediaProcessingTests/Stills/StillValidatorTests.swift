import Foundation
import Glibc
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

/// A broken PNG or GIF has the same verdict on every path (issue 18). Broken JPEGs are in `DamagedJPEGTests`.
struct StillValidatorTests {
    private func verdicts(_ file: String, _ format: MediaFormat) throws -> Set<String> {
        let crop = try ClippingRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5)
        let paths: [() throws -> Void] = [
            { _ = try RenderedStill(file, format: format, side: 20) },
            { _ = try RenderedStill(file, format: format, side: 300) },
            { _ = try RenderedStill(file, format: format, side: 2_000) },
            { _ = try RenderedStill(file, format: format, reencodes: true) },
            { _ = try RenderedStill(file, format: format, crop: crop) },
            { _ = try RenderedStill(file, RenderRequest(format: format, frameSelection: .still)) },
        ]
        return Set(
            paths.map { path in
                do {
                    // The pipeline inspects before it renders.
                    try inspect(file, format, decodes: false)
                    try path()
                    return "intact"
                } catch { return (error as? AttachPrepError)?.code.rawValue ?? "\(error)" }
            })
    }

    @discardableResult
    private func inspect(_ file: String, _ format: MediaFormat, decodes: Bool) throws -> MediaAnswer {
        let descriptor = open(file, O_RDONLY)
        defer { close(descriptor) }
        return try MediaProcessor().perform(
            .inspect(InspectRequest(format: format, decodesStills: decodes)), descriptors: [descriptor],
            deadline: .now + .seconds(60))
    }

    // MARK: PNG

    private static let kinds: [[String]] = [
        ["-define", "png:color-type=2"], ["-interlace", "PNG"], ["-define", "png:format=png48"],
        ["-type", "Palette"], ["-colorspace", "Gray"],
    ]

    /// The grid with its data in one chunk, whose content `change` and whose bytes `checksum` can damage.
    private func png(
        _ options: [String], data change: (inout [UInt8]) -> Void = { _ in }, extra: [UInt8] = [],
        checksum: (inout [UInt8]) -> Void = { _ in }
    ) throws -> String {
        let source = try StillFixture.converted("whole.png", options)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: source)))
        let chunks = MediaChunk.all(of: bytes)
        func type(_ chunk: MediaChunk) -> String {
            String(decoding: bytes[(chunk.range.lowerBound + 4)..<(chunk.range.lowerBound + 8)], as: UTF8.self)
        }
        var data = chunks.filter { type($0) == "IDAT" }.flatMap { bytes[$0.range].dropFirst(8).dropLast(4) }
        change(&data)
        var file = MediaBytes.pngSignature
        for chunk in chunks where ["IHDR", "PLTE", "tRNS", "gAMA"].contains(type(chunk)) { file += bytes[chunk.range] }
        file += extra
        var dataChunk = MediaBytes.png("IDAT", data)
        checksum(&dataChunk)
        return try GeneratedMedia.file("broken.png", bytes: file + dataChunk + MediaBytes.png("IEND")).path
    }

    @Test(arguments: kinds) func `An intact PNG is intact on every path`(options: [String]) throws {
        #expect(try verdicts(png(options), .png) == ["intact"])
    }

    @Test(arguments: kinds) func `A wrong chunk checksum of a PNG is corrupt on every path`(options: [String]) throws {
        let file = try png(options) { _ in
        } checksum: {
            $0[$0.count - 1] ^= 1
        }
        #expect(try verdicts(file, .png) == ["media.corrupt"])
    }

    @Test(arguments: kinds) func `A wrong checksum of a PNG's compressed data is corrupt on every path`(
        options: [String]
    ) throws {
        #expect(try verdicts(png(options) { $0[$0.count - 1] ^= 1 }, .png) == ["media.corrupt"])
    }

    @Test(arguments: kinds)
    func `Compressed data of a PNG that ends early is corrupt on every path`(options: [String]) throws {
        #expect(try verdicts(png(options) { $0.removeLast($0.count / 50 + 6) }, .png) == ["media.corrupt"])
    }

    @Test(arguments: kinds) func `Bytes after a PNG's compressed data are ignored`(options: [String]) throws {
        #expect(try verdicts(png(options) { $0 += [1, 2, 3, 4] }, .png) == ["intact"])
    }

    @Test(arguments: kinds) func `A broken ancillary chunk of a PNG is ignored`(options: [String]) throws {
        var text = MediaBytes.png("tEXt", MediaBytes.text("Comment\0broken"))
        text[text.count - 1] ^= 1
        #expect(try verdicts(png(options, extra: text), .png) == ["intact"])
    }

    // MARK: GIF

    /// Three frames of 8 x 8 pixels; the second one has the given data.
    private func gif(_ data: [UInt8]) throws -> String {
        let frames = [Self.complete, data, Self.complete].map { data in
            MediaBytes.text(",") ++ [0, 0, 0, 0, 8, 0, 8, 0, 0, 2] ++ [UInt8(data.count)] ++ data ++ [0]
        }
        let header = MediaBytes.text("GIF89a") ++ [8, 0, 8, 0, 0xF0, 0, 0] ++ [0, 0, 0, 255, 255, 255]
        return try GeneratedMedia.file("broken.gif", bytes: header ++ frames.flatMap { $0 } ++ [0x3B]).path
    }

    /// Packs codes of three bits; a clear code before every two pixels keeps them that wide.
    private static func codes(_ codes: [UInt8]) -> [UInt8] {
        var (bytes, held, count): ([UInt8], Int, Int) = ([], 0, 0)
        for code in codes {
            held |= Int(code) << count
            count += 3
            while count >= 8 {
                bytes.append(UInt8(held & 255))
                (held, count) = (held >> 8, count - 8)
            }
        }
        return count > 0 ? bytes + [UInt8(held & 255)] : bytes
    }

    private static let pixels = (0..<32).flatMap { _ in [4, 0, 1] as [UInt8] }
    private static let complete = codes(pixels + [5])

    @Test func `A GIF with all of its pixels is intact`() throws {
        #expect(try verdicts(gif(Self.complete), .gif) == ["intact"])
        // Many encoders omit the end code or write extra pixels.
        #expect(try verdicts(gif(Self.codes(Self.pixels)), .gif) == ["intact"])
        #expect(try verdicts(gif(Self.codes(Self.pixels + [4, 0, 0, 5])), .gif) == ["intact"])
        #expect(try verdicts(gif(Self.complete + [1, 2, 3]), .gif) == ["intact"])
    }

    @Test func `A GIF frame with missing pixels is corrupt on every path`() throws {
        for missing in [9, 30, 96] {
            let data = Self.codes(Array(Self.pixels.dropLast(missing)))
            #expect(try verdicts(gif(data), .gif) == ["media.corrupt"], "\(missing)")
            #expect(try verdicts(gif(Self.codes(Self.pixels.dropLast(missing) + [5])), .gif) == ["media.corrupt"])
        }
    }

    @Test func `An undefined LZW code in a GIF is corrupt on every path`() throws {
        var codes = Self.pixels
        codes[40] = 7
        #expect(try verdicts(gif(Self.codes(codes)), .gif) == ["media.corrupt"])
    }

    @Test(arguments: ["counter.gif", "grid.gif"]) func `The sample GIFs are intact`(name: String) throws {
        #expect(try verdicts(StillFixture.sample(name), .gif) == ["intact"])
    }
}
