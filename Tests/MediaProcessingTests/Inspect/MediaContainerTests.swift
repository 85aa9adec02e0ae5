import MediaProcessing
import MediaTypes
import Testing

@Suite struct MediaContainerTests {
    private func isValid(_ bytes: [UInt8], _ check: (ByteWindow) throws -> Void) -> Bool {
        (try? check(ParserBytes.window(bytes))) != nil
    }

    private func avi(declared: Int? = nil, movie: [UInt8] = [UInt8](repeating: 1, count: 100)) -> [UInt8] {
        let lists =
            ParserBytes.chunk("LIST", Array("hdrl".utf8) + [0, 0])
            + ParserBytes.chunk("LIST", Array("movi".utf8) + movie)
        let size = ParserBytes.littleEndian(declared ?? lists.count + 4, 4)
        return Array("RIFF".utf8) + size + Array("AVI ".utf8) + lists
    }

    @Test func `An AVI with truncated lists is rejected`() {
        #expect(isValid(avi(), AVIValidator.check))
        #expect(!isValid(avi().dropLast(20), AVIValidator.check))
        #expect(!isValid(Array(avi().prefix(30)), AVIValidator.check))
    }

    @Test(arguments: [0, 0xFFFF_FFFF]) func `An AVI may leave its size open or include its header in it`(size: Int) {
        #expect(isValid(avi(declared: size), AVIValidator.check))
        #expect(isValid(avi(declared: avi().count), AVIValidator.check))
    }

    @Test func `Every RIFF part of an AVI is checked`() {
        let part =
            Array("RIFF".utf8) + ParserBytes.littleEndian(50, 4) + Array("AVIX".utf8) + [UInt8](repeating: 0, count: 46)
        #expect(isValid(avi() + part, AVIValidator.check))
        #expect(!isValid(avi() + part.dropLast(30), AVIValidator.check))
    }

    @Test func `A Flash video with a truncated last tag is rejected`() {
        let header = Array("FLV".utf8) + [1, 5, 0, 0, 0, 9, 0, 0, 0, 0]
        let tag: [UInt8] = [9, 0, 0, 20] + [UInt8](repeating: 0, count: 27) + [0, 0, 0, 31]
        #expect(isValid(header + tag + tag, FlashVideoValidator.check))
        #expect(isValid(header + tag + tag.dropLast(4), FlashVideoValidator.check))
        #expect(!isValid(header + tag + tag.dropLast(10), FlashVideoValidator.check))
        #expect(!isValid(header + tag + tag.prefix(6), FlashVideoValidator.check))
        #expect(isValid(header + tag + [0xEE, 0xFF, 0xFF, 0xFF] + tag, FlashVideoValidator.check))
    }

    @Test func `A program stream with a truncated last packet is rejected`() {
        let pack: [UInt8] = [0, 0, 1, 0xBA, 0x44] + [UInt8](repeating: 0xFF, count: 8) + [0xF8]
        let packet: [UInt8] = [0, 0, 1, 0xE0, 0, 10] + [UInt8](repeating: 7, count: 10)
        let padding = [UInt8](repeating: 0, count: 100)
        #expect(isValid(pack + packet + [0, 0, 1, 0xB9] + padding, MPEGProgramStreamValidator.check))
        #expect(isValid(pack + [9, 9, 9] + packet, MPEGProgramStreamValidator.check))
        #expect(!isValid(pack + packet + packet.dropLast(4), MPEGProgramStreamValidator.check))
        #expect(!isValid(pack + packet + pack.dropLast(9), MPEGProgramStreamValidator.check))
    }

    @Test func `A Matroska segment must lie inside its file unless its size is unknown`() {
        let header: [UInt8] = [0x1A, 0x45, 0xDF, 0xA3, 0x84, 1, 2, 3, 4]
        let segment: [UInt8] = [0x18, 0x53, 0x80, 0x67]
        #expect(isValid(header + segment + [0x90] + [UInt8](repeating: 0, count: 16), MatroskaValidator.check))
        #expect(!isValid(header + segment + [0x90] + [UInt8](repeating: 0, count: 15), MatroskaValidator.check))
        #expect(
            isValid(header + segment + [0x01] + [UInt8](repeating: 0xFF, count: 7) + [1, 2], MatroskaValidator.check))
    }

    @Test func `An Ogg file with a truncated last page is rejected`() {
        let page =
            Array("OggS".utf8) + [UInt8](repeating: 0, count: 22) + [2, 255, 10] + [UInt8](repeating: 5, count: 265)
        #expect(isValid(page + page, OggValidator.check))
        #expect(!isValid(page + page.dropLast(3), OggValidator.check))
    }

    @Test func `ADTS frames are counted to the end, and a truncated one is rejected`() throws {
        let frame: [UInt8] = [0xFF, 0xF1, 0x50, 0x80, 0x02, 0x1F, 0xFC] + [UInt8](repeating: 1, count: 9)
        #expect(try ADTSParser.parse(ParserBytes.window(frame + frame + frame)).frames == 3)
        #expect(!isValid(frame + frame + frame.dropLast(2)) { _ = try ADTSParser.parse($0) })
        #expect(!isValid([UInt8](repeating: 0x41, count: 200_000)) { _ = try ADTSParser.parse($0) })
    }

    @Test func `An MPEG video whose last frame lacks slices is rejected`() {
        func frame(rows: ClosedRange<UInt8>) -> [UInt8] {
            [0, 0, 1, 0x00, 1, 2, 3, 4] + rows.flatMap { [0, 0, 1, $0, 9, 9, 9] }
        }
        #expect(isValid(frame(rows: 1...15) + frame(rows: 1...15), MPEGVideoValidator.check))
        #expect(!isValid(frame(rows: 1...15) + frame(rows: 1...9), MPEGVideoValidator.check))
        #expect(!isValid(frame(rows: 1...15) + [0, 0, 1, 0x00, 1, 2], MPEGVideoValidator.check))
    }
}
