import MediaProcessing
import RichPush
import Testing

@Suite struct WaveWalkTests {
    private static let form = WalkBytes.chunk("fmt ", [1, 0, 1, 0, 0x40, 0x1F, 0, 0, 0x80, 0x3E, 0, 0, 2, 0, 16, 0])

    private func wave(_ chunks: [UInt8], declared: Int? = nil) -> [UInt8] {
        Array("RIFF".utf8) + WalkBytes.littleEndian(declared ?? chunks.count + 4, 4) + Array("WAVE".utf8) + chunks
    }

    private func passes(_ bytes: [UInt8]) -> Bool { (try? walk(bytes)) != nil }

    private func walk(_ bytes: [UInt8]) throws -> WaveParser { try WaveParser.walk(WalkBytes.window(bytes)) }

    private let samples = [UInt8](repeating: 7, count: 1000)

    @Test func `a file that holds what it declares passes`() {
        #expect(passes(wave(Self.form + WalkBytes.chunk("data", samples))))
    }

    @Test func `missing samples are corrupt`() {
        let whole = wave(Self.form + WalkBytes.chunk("data", samples))
        #expect(!passes(whole.dropLast(1)))
        #expect(!passes(whole.dropLast(990)))
    }

    @Test func `a missing pad byte is tolerated`() {
        #expect(passes(wave(Self.form + WalkBytes.chunk("data", samples + [1])).dropLast()))
    }

    @Test(arguments: [0, 0xFFFF_FFFF]) func `samples that nobody counted reach to the end`(size: Int) throws {
        let data = Array("data".utf8) + WalkBytes.littleEndian(size, 4) + samples
        let found = try walk(wave(Self.form + data, declared: size))
        #expect(found.openChunk == 36 && found.frameBytes == 2)
        #expect(try walk(wave(Self.form + WalkBytes.chunk("data", samples))).openChunk == nil)
    }

    @Test func `no samples, and a chunk behind them, are corrupt`() {
        let none = Self.form + Array("data".utf8) + [0, 0, 0, 0]
        #expect(!passes(wave(none)))
        #expect(!passes(wave(none + WalkBytes.chunk("LIST", [1, 2, 3, 4]))))
    }

    @Test(arguments: [0, 0xFFFF_FFFF, 1036 + 8]) func `the outer size matters little`(size: Int) {
        #expect(passes(wave(Self.form + WalkBytes.chunk("data", samples), declared: size)))
    }

    @Test func `a cut chunk behind the samples is corrupt, junk is not`() {
        let whole = Self.form + WalkBytes.chunk("data", samples)
        #expect(!passes(wave(whole + Array("LIST".utf8) + [100, 0, 0, 0, 1, 2], declared: whole.count + 4 + 108)))
        #expect(passes(wave(whole) + [0xFF, 0, 0xFF, 1, 9, 9, 9, 9, 9, 9]))
    }

    @Test func `a file without samples is corrupt`() {
        #expect(!passes(wave(Self.form)))
    }

    @Test func `an AIFF holds the frames it declares`() {
        func aiff(frames: Int, bytes: Int) -> [UInt8] {
            let common = WalkBytes.bigEndian(1, 2) + WalkBytes.bigEndian(frames, 4) + WalkBytes.bigEndian(16, 2)
            let sound = [UInt8](repeating: 0, count: 8 + bytes)
            let body =
                Array("COMM".utf8) + WalkBytes.bigEndian(18, 4) + common + [UInt8](repeating: 0, count: 10)
                + Array("SSND".utf8) + WalkBytes.bigEndian(sound.count, 4) + sound
            return Array("FORM".utf8) + WalkBytes.bigEndian(body.count + 4, 4) + Array("AIFF".utf8) + body
        }
        func passes(_ bytes: [UInt8]) -> Bool { (try? AIFFValidator.check(WalkBytes.window(bytes))) != nil }
        #expect(passes(aiff(frames: 500, bytes: 1000)))
        #expect(!passes(aiff(frames: 501, bytes: 1000)))
        #expect(!passes(aiff(frames: 500, bytes: 1000).dropLast(10)))
        #expect(!passes(aiff(frames: 0, bytes: 0)))
    }
}
