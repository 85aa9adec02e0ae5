import AttachPrepModel
import Foundation
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

@Suite struct BMPDecoderTests {
    private let deadline = ContinuousClock.now + .seconds(60)

    private func decode(_ file: URL) throws -> DecodedFrame {
        try withDescriptor(file) { try BMPDecoder.bmp(descriptor: $0, deadline: deadline) }
    }

    /// Red above blue: two pixels high, three wide.
    private func source(_ name: String, _ arguments: [String]) throws -> URL {
        let file = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-\(name)")
        try GeneratedMedia.run(
            "convert",
            ["-size", "3x1", "xc:red", "xc:blue", "-append", "-depth", "8"] + arguments + ["BMP3:\(file.path)"])
        return file
    }

    @Test(arguments: [
        ["-type", "TrueColor"], ["-type", "Palette"], ["-compress", "RLE", "-type", "Palette"], ["-flip", "-flip"],
    ])
    func `Every depth and compression is decoded upright`(arguments: [String]) throws {
        let frame = try decode(source("a.bmp", arguments))
        #expect((frame.width, frame.height, frame.bands) == (3, 2, 3))
        #expect(Array(frame.bytes.prefix(3)) == [255, 0, 0])
        #expect(Array(frame.bytes.suffix(3)) == [0, 0, 255])
    }

    @Test func `The size is read from the header alone`() throws {
        let file = try source("size.bmp", [])
        let size = try withDescriptor(file) { try BMPDecoder.bmpSize(descriptor: $0, deadline: deadline) }
        #expect(size == (3, 2))
    }

    @Test func `A top-down image of 32 bits keeps its alpha`() throws {
        let masks = [0x00FF_0000, 0x0000_FF00, 0x0000_00FF, 0xFF00_0000].flatMap { ParserBytes.littleEndian($0, 4) }
        let header =
            ParserBytes.littleEndian(124, 4) + ParserBytes.littleEndian(1, 4) + ParserBytes.littleEndian(-2, 4)
            + [1, 0, 32, 0] + ParserBytes.littleEndian(3, 4) + [UInt8](repeating: 0, count: 20) + masks
            + [UInt8](repeating: 0, count: 68)
        let file =
            Array("BM".utf8) + [0, 0, 0, 0, 0, 0, 0, 0] + ParserBytes.littleEndian(138, 4) + header
            + [10, 20, 30, 128, 40, 50, 60, 255]
        let frame = try decode(GeneratedMedia.file("alpha.bmp", bytes: file))
        #expect(frame.bytes == [30, 20, 10, 128, 60, 50, 40, 255])
    }

    @Test func `Missing pixels are corrupt`() throws {
        let bytes = try Data(contentsOf: source("cut.bmp", ["-type", "TrueColor"]))
        let file = try GeneratedMedia.file("cut.bmp", bytes: bytes.dropLast(8))
        #expect(#expect(throws: AttachPrepError.self) { try decode(file) }?.code == .mediaCorrupt)
    }

    @Test func `Too many pixels are rejected by the header`() throws {
        let header =
            Array("BM".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0]
            + ParserBytes.littleEndian(60_000, 4) + ParserBytes.littleEndian(60_000, 4) + [1, 0, 24, 0]
            + [UInt8](repeating: 0, count: 24)
        let file = try GeneratedMedia.file("bomb.bmp", bytes: header)
        #expect(#expect(throws: AttachPrepError.self) { try decode(file) }?.code == .mediaTooManyPixels)
    }
}
