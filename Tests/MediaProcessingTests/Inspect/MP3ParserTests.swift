import AttachPrepModel
import MediaEngine
import MediaProcessing
import MediaTypes
import Testing

@Suite struct MP3ParserTests {
    private func parse(_ bytes: [UInt8]) throws -> MP3Parser { try MP3Parser.parse(ParserBytes.window(bytes)) }

    private func frames(_ count: Int) -> [UInt8] { (0..<count).flatMap { _ in ParserBytes.mp3Frame() } }

    private func xing(_ declared: Int) -> [UInt8] {
        var frame = ParserBytes.mp3Frame()
        frame.replaceSubrange(21..<33, with: Array("Xing".utf8) + [0, 0, 0, 1] + ParserBytes.bigEndian(declared, 4))
        return frame
    }

    private func code(_ bytes: [UInt8]) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try parse(bytes) }?.code
    }

    @Test func `Frames are counted to the end`() throws {
        #expect(try parse(frames(10)).frames == 10)
    }

    @Test func `A single frame is a valid file`() throws {
        #expect(try parse(frames(1)).frames == 1)
    }

    @Test(arguments: [1, 3, 200, 416]) func `A truncated last frame is corrupt`(missing: Int) {
        #expect(code(frames(10).dropLast(missing)) == .mediaCorrupt)
    }

    @Test func `Fewer frames than the Xing header declares are corrupt`() {
        #expect(code(xing(20) + frames(10)) == .mediaCorrupt)
    }

    @Test(arguments: [10, 11, 5, 13])
    func `A Xing header may count itself, fewer frames or less than 0.1 s more than there is`(declared: Int) throws {
        #expect(try parse(xing(declared) + frames(10)).frames == 10)
    }

    @Test func `A Xing header that declares 0.1 s more than there is means a truncated file`() {
        #expect(code(xing(14) + frames(10)) == .mediaCorrupt)
    }

    @Test func `Fewer frames than the VBRI header declares are corrupt`() {
        var first = ParserBytes.mp3Frame()
        first.replaceSubrange(
            36..<54, with: Array("VBRI".utf8) + [0, 1, 0, 0, 0, 0, 0, 0, 0, 0] + ParserBytes.bigEndian(50, 4))
        #expect(code(first + frames(10)) == .mediaCorrupt)
    }

    @Test func `Tags before and after the frames are skipped`() throws {
        let id3 = Array("ID3".utf8) + [4, 0, 0x10, 0, 0, 1, 0] + [UInt8](repeating: 0xFF, count: 128 + 10)
        let second = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 5] + [UInt8](repeating: 0xFB, count: 5)
        let ape =
            Array("APETAGEX".utf8) + ParserBytes.littleEndian(2000, 4) + ParserBytes.littleEndian(40, 4)
            + ParserBytes.littleEndian(1, 4) + ParserBytes.littleEndian(0xA000_0000, 4)
            + [UInt8](repeating: 0, count: 8 + 40)
        let lyrics = Array("LYRICSBEGININD0000200000011LYRICS200".utf8)
        let version1 = Array("TAG".utf8) + [UInt8](repeating: 0x20, count: 125)
        #expect(try parse(id3 + second + frames(7) + ape + lyrics + version1).frames == 7)
    }

    @Test func `A tag larger than the file is corrupt`() {
        #expect(code(Array("ID3".utf8) + [4, 0, 0, 0, 0x7F, 0, 0] + frames(2)) == .mediaCorrupt)
    }

    @Test func `Padding and a little junk are ignored`() throws {
        let junk: [UInt8] = [0xFF, 0xFB, 0x00, 0x55, 0xFF, 0xE0, 0x12]
        let padding = [UInt8](repeating: 0, count: 5000)
        #expect(try parse(padding + frames(3) + junk + frames(4) + padding).frames == 7)
    }

    @Test func `Less audio than junk after the first frame is corrupt`() throws {
        let junk = [UInt8](repeating: 0x55, count: 4_000)
        #expect(code(frames(3) + junk + frames(4)) == .mediaCorrupt)
        #expect(try parse(junk + frames(3) + frames(4)).frames == 7)
    }

    @Test func `Text is corrupt`() {
        #expect(code([UInt8](repeating: 0x41, count: 300_000)) == .mediaCorrupt)
    }

    @Test func `Frame lengths of the free format are measured`() throws {
        let frame = ParserBytes.mp3Frame(header: [0xFF, 0xFB, 0x00, 0xC0], length: 600)
        let parser = try parse(frame + frame + frame)
        #expect(parser.frames == 3)
        #expect(parser.header?.bitRate == nil)
    }

    @Test func `Header fields follow the tables of the standard`() throws {
        let half = try #require(MPEGAudioHeader(0xFFF3_40C0))
        #expect((half.version, half.sampleRate, half.samples) == (.mpeg2, 22_050, 576))
        let quarter = try #require(MPEGAudioHeader(0xFFE3_88C0))
        #expect((quarter.version, quarter.sampleRate) == (.mpeg25, 8_000))
        let second = try #require(MPEGAudioHeader(0xFFFD_A400))
        #expect((second.layer, second.sampleRate, second.bitRate) == (2, 48_000, 192_000))
        #expect(MPEGAudioHeader(0xFFFB_F000) == nil)
        #expect(MPEGAudioHeader(0xFFEB_9000) == nil)
    }
}
