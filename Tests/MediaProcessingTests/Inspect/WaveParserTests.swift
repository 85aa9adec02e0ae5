import MediaProcessing
import MediaTypes
import Testing

@Suite struct WaveParserTests {
    private static let form = ParserBytes.chunk("fmt ", [1, 0, 1, 0, 0x40, 0x1F, 0, 0, 0x80, 0x3E, 0, 0, 2, 0, 16, 0])

    private func wave(_ chunks: [UInt8], declared: Int? = nil) -> [UInt8] {
        Array("RIFF".utf8) + ParserBytes.littleEndian(declared ?? chunks.count + 4, 4) + Array("WAVE".utf8) + chunks
    }

    private func isValid(_ bytes: [UInt8]) -> Bool { (try? parse(bytes)) != nil }

    private func parse(_ bytes: [UInt8]) throws -> WaveParser { try WaveParser.parse(ParserBytes.window(bytes)) }

    private let samples = [UInt8](repeating: 7, count: 1000)

    @Test func `A file that holds what it declares is valid`() {
        #expect(isValid(wave(Self.form + ParserBytes.chunk("data", samples))))
    }

    @Test func `Missing samples are corrupt`() {
        let complete = wave(Self.form + ParserBytes.chunk("data", samples))
        #expect(!isValid(complete.dropLast(1)))
        #expect(!isValid(complete.dropLast(990)))
    }

    @Test func `A missing pad byte is accepted`() {
        #expect(isValid(wave(Self.form + ParserBytes.chunk("data", samples + [1])).dropLast()))
    }

    @Test(arguments: [0, 0xFFFF_FFFF]) func `Samples of open size extend to the end of the file`(size: Int) throws {
        let data = Array("data".utf8) + ParserBytes.littleEndian(size, 4) + samples
        let found = try parse(wave(Self.form + data, declared: size))
        #expect(found.openChunk == 36 && found.frameBytes == 2)
        #expect(try parse(wave(Self.form + ParserBytes.chunk("data", samples))).openChunk == nil)
    }

    @Test func `An empty data chunk is corrupt, also with a chunk after it`() {
        let none = Self.form + Array("data".utf8) + [0, 0, 0, 0]
        #expect(!isValid(wave(none)))
        #expect(!isValid(wave(none + ParserBytes.chunk("LIST", [1, 2, 3, 4]))))
    }

    @Test(arguments: [0, 0xFFFF_FFFF, 1036 + 8]) func `A wrong RIFF size is accepted`(size: Int) {
        #expect(isValid(wave(Self.form + ParserBytes.chunk("data", samples), declared: size)))
    }

    @Test func `A truncated chunk after the samples is corrupt, and junk is ignored`() {
        let complete = Self.form + ParserBytes.chunk("data", samples)
        let truncated = complete + Array("LIST".utf8) + [100, 0, 0, 0, 1, 2]
        #expect(!isValid(wave(truncated, declared: complete.count + 4 + 108)))
        #expect(isValid(wave(complete) + [0xFF, 0, 0xFF, 1, 9, 9, 9, 9, 9, 9]))
    }

    @Test func `A file without a data chunk is corrupt`() {
        #expect(!isValid(wave(Self.form)))
    }

    @Test func `An AIFF with fewer frames than it declares is rejected`() {
        func aiff(frames: Int, bytes: Int) -> [UInt8] {
            let common = ParserBytes.bigEndian(1, 2) + ParserBytes.bigEndian(frames, 4) + ParserBytes.bigEndian(16, 2)
            let chunk = [UInt8](repeating: 0, count: 8 + bytes)
            let body =
                Array("COMM".utf8) + ParserBytes.bigEndian(18, 4) + common + [UInt8](repeating: 0, count: 10)
                + Array("SSND".utf8) + ParserBytes.bigEndian(chunk.count, 4) + chunk
            return Array("FORM".utf8) + ParserBytes.bigEndian(body.count + 4, 4) + Array("AIFF".utf8) + body
        }
        func isValid(_ bytes: [UInt8]) -> Bool { (try? AIFFValidator.check(ParserBytes.window(bytes))) != nil }
        #expect(isValid(aiff(frames: 500, bytes: 1000)))
        #expect(!isValid(aiff(frames: 501, bytes: 1000)))
        #expect(!isValid(aiff(frames: 500, bytes: 1000).dropLast(10)))
        #expect(!isValid(aiff(frames: 0, bytes: 0)))
    }
}
