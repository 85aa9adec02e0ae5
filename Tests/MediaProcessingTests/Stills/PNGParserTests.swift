import AttachPrepModel
import MediaProcessing
import MediaTypes
import Testing

@Suite struct PNGParserTests {
    private let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private func chunk(_ type: String, _ content: [UInt8] = []) -> [UInt8] {
        ParserBytes.bigEndian(content.count, 4) + Array(type.utf8) + content + [0, 0, 0, 0]
    }

    private var header: [UInt8] {
        chunk("IHDR", ParserBytes.bigEndian(30, 4) + ParserBytes.bigEndian(40, 4) + [8, 6, 0, 0, 0])
    }
    private var data: [UInt8] { chunk("IDAT", [1, 2, 3]) }
    private var end: [UInt8] { chunk("IEND") }

    private func animation(plays: Int) -> [UInt8] {
        chunk("acTL", ParserBytes.bigEndian(2, 4) + ParserBytes.bigEndian(plays, 4))
    }

    private func control(_ numerator: Int, _ denominator: Int) -> [UInt8] {
        chunk(
            "fcTL",
            [UInt8](repeating: 0, count: 20) + ParserBytes.bigEndian(numerator, 2)
                + ParserBytes.bigEndian(denominator, 2) + [0, 0])
    }

    private func parse(_ bytes: [UInt8]) throws -> PNGParser { try PNGParser.parse(ParserBytes.window(bytes)) }

    @Test func `A still PNG gives its header fields`() throws {
        let parser = try parse(signature + header + data + end)
        #expect((parser.width, parser.height, parser.bitDepth, parser.colorType) == (30, 40, 8, 6))
        #expect(!parser.isAnimated)
        #expect(parser.frames == 1)
    }

    @Test func `An APNG gives its frames, delays and loop count`() throws {
        let parser = try parse(
            signature + header + animation(plays: 3) + control(1, 10) + data + control(5, 0) + chunk("fdAT", [1]) + end)
        #expect(parser.isAnimated)
        #expect(parser.delaysMilliseconds == [100, 50])
        #expect(parser.loopCount == 3)
    }

    @Test func `An image before the first frame control is not part of the animation`() throws {
        let parser = try parse(
            signature + header + animation(plays: 0) + data + control(1, 10) + chunk("fdAT") + control(1, 10) + end)
        #expect(parser.frames == 2)
    }

    @Test func `A file truncated anywhere is corrupt`() {
        let complete = signature + header + data + end
        for length in 8..<complete.count {
            let error = #expect(throws: AttachPrepError.self) { try parse(Array(complete.prefix(length))) }
            #expect(error?.code == .mediaCorrupt)
        }
    }

    @Test func `Bytes after the end chunk are ignored`() throws {
        #expect(try parse(signature + header + data + end + [1, 2, 3]).width == 30)
    }

    @Test func `More frames than the limit are rejected`() {
        let frames = (0...Limits.animationFramesMax).flatMap { _ in control(1, 10) }
        let error = #expect(throws: AttachPrepError.self) {
            try parse(signature + header + animation(plays: 0) + frames + data + end)
        }
        #expect(error?.code == .mediaTooManyFrames)
    }
}
