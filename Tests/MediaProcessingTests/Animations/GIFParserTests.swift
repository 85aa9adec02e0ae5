import AttachPrepModel
import MediaProcessing
import MediaTypes
import Testing

@Suite struct GIFParserTests {
    private let screen: [UInt8] = Array("GIF89a".utf8) + [10, 0, 20, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
    private let image: [UInt8] = [0x2C, 0, 0, 0, 0, 10, 0, 20, 0, 0, 2, 3, 1, 2, 3, 0]

    private func control(delay: Int) -> [UInt8] { [0x21, 0xF9, 4, 0] + ParserBytes.littleEndian(delay, 2) + [0, 0] }

    private func loops(_ count: Int) -> [UInt8] {
        [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + ParserBytes.littleEndian(count, 2) + [0]
    }

    private func parse(_ bytes: [UInt8]) throws -> GIFParser { try GIFParser.parse(ParserBytes.window(bytes)) }

    private func code(_ bytes: [UInt8]) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try parse(bytes) }?.code
    }

    @Test func `Size, frames, delays and loops are read`() throws {
        let parser = try parse(screen + loops(0) + control(delay: 7) + image + control(delay: 20) + image + [0x3B])
        #expect((parser.width, parser.height, parser.frames, parser.loopCount) == (10, 20, 2, 0))
        #expect(parser.delaysMilliseconds == [70, 200])
        #expect(abs(parser.duration - 0.27) < 1e-9)
    }

    @Test func `A GIF plays once without a loop extension and n + 1 times with n repetitions`() throws {
        #expect(try parse(screen + image + [0x3B]).loopCount == 1)
        #expect(try parse(screen + loops(3) + image + [0x3B]).loopCount == 4)
    }

    @Test func `A delay of up to 10 ms lasts 100 ms`() throws {
        #expect(try parse(screen + control(delay: 1) + image + [0x3B]).duration == 0.1)
    }

    @Test func `A file truncated anywhere before the end of a frame is corrupt`() {
        let complete = screen + loops(0) + control(delay: 7) + image
        for length in 6..<complete.count { #expect(code(Array(complete.prefix(length))) == .mediaCorrupt) }
    }

    @Test func `A file that ends after a frame lacks its trailer`() throws {
        #expect(try parse(screen + image + control(delay: 7) + image).isTrailerMissing)
        #expect(try !parse(screen + image + [0x3B]).isTrailerMissing)
        #expect(code(screen + image + control(delay: 7)) == .mediaCorrupt)
    }

    @Test func `Bytes after the trailer are ignored`() throws {
        #expect(try parse(screen + image + [0x3B, 1, 2, 3]).frames == 1)
    }

    @Test func `Interlacing and local color tables are reported`() throws {
        let local: [UInt8] = [0x2C, 0, 0, 0, 0, 10, 0, 20, 0, 0xC0, 1, 2, 3, 4, 5, 6, 2, 1, 9, 0]
        let parser = try parse(screen + local + image + [0x3B])
        #expect(parser.blocks.map(\.isInterlaced) == [true, false])
        #expect(parser.blocks.map(\.colors) == [29..<35, 13..<19])
    }

    @Test func `A GIF without frames and a file with another signature are corrupt`() {
        #expect(code(screen + [0x3B]) == .mediaCorrupt)
        #expect(code(Array("GIF90a".utf8) + [0, 0, 0, 0]) == .mediaCorrupt)
    }

    @Test func `More frames than the limit are rejected`() {
        let frames = (0...Limits.animationFramesMax).flatMap { _ in image }
        #expect(code(screen + frames + [0x3B]) == .mediaTooManyFrames)
    }
}
