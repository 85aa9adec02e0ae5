import MediaProcessing
import RichPush
import Testing

@Suite struct ContainerWalkTests {
    private func passes(_ bytes: [UInt8], _ check: (ByteWindow) throws -> Void) -> Bool {
        (try? check(WalkBytes.window(bytes))) != nil
    }

    private func avi(declared: Int? = nil, movie: [UInt8] = [UInt8](repeating: 1, count: 100)) -> [UInt8] {
        let lists =
            WalkBytes.chunk("LIST", Array("hdrl".utf8) + [0, 0]) + WalkBytes.chunk("LIST", Array("movi".utf8) + movie)
        return Array("RIFF".utf8) + WalkBytes.littleEndian(declared ?? lists.count + 4, 4) + Array("AVI ".utf8) + lists
    }

    @Test func `an AVI holds its lists`() {
        #expect(passes(avi(), AVIValidator.check))
        #expect(!passes(avi().dropLast(20), AVIValidator.check))
        #expect(!passes(Array(avi().prefix(30)), AVIValidator.check))
    }

    @Test(arguments: [0, 0xFFFF_FFFF]) func `an AVI may leave its size open, or count its header`(size: Int) {
        #expect(passes(avi(declared: size), AVIValidator.check))
        #expect(passes(avi(declared: avi().count), AVIValidator.check))
    }

    @Test func `an AVI of several parts is walked through all of them`() {
        let part =
            Array("RIFF".utf8) + WalkBytes.littleEndian(50, 4) + Array("AVIX".utf8) + [UInt8](repeating: 0, count: 46)
        #expect(passes(avi() + part, AVIValidator.check))
        #expect(!passes(avi() + part.dropLast(30), AVIValidator.check))
    }

    @Test func `the last tag of a Flash video is whole`() {
        let header = Array("FLV".utf8) + [1, 5, 0, 0, 0, 9, 0, 0, 0, 0]
        let tag: [UInt8] = [9, 0, 0, 20] + [UInt8](repeating: 0, count: 27) + [0, 0, 0, 31]
        #expect(passes(header + tag + tag, FlashVideoValidator.check))
        #expect(passes(header + tag + tag.dropLast(4), FlashVideoValidator.check))
        #expect(!passes(header + tag + tag.dropLast(10), FlashVideoValidator.check))
        #expect(!passes(header + tag + tag.prefix(6), FlashVideoValidator.check))
        #expect(passes(header + tag + [0xEE, 0xFF, 0xFF, 0xFF] + tag, FlashVideoValidator.check))
    }

    @Test func `the last packet of a program stream is whole`() {
        let pack: [UInt8] = [0, 0, 1, 0xBA, 0x44] + [UInt8](repeating: 0xFF, count: 8) + [0xF8]
        let packet: [UInt8] = [0, 0, 1, 0xE0, 0, 10] + [UInt8](repeating: 7, count: 10)
        let padding = [UInt8](repeating: 0, count: 100)
        #expect(passes(pack + packet + [0, 0, 1, 0xB9] + padding, MPEGProgramStreamValidator.check))
        #expect(passes(pack + [9, 9, 9] + packet, MPEGProgramStreamValidator.check))
        #expect(!passes(pack + packet + packet.dropLast(4), MPEGProgramStreamValidator.check))
        #expect(!passes(pack + packet + pack.dropLast(9), MPEGProgramStreamValidator.check))
    }

    @Test func `a Matroska segment lies inside its file, unless its size is unknown`() {
        let header: [UInt8] = [0x1A, 0x45, 0xDF, 0xA3, 0x84, 1, 2, 3, 4]
        let segment: [UInt8] = [0x18, 0x53, 0x80, 0x67]
        #expect(passes(header + segment + [0x90] + [UInt8](repeating: 0, count: 16), MatroskaValidator.check))
        #expect(!passes(header + segment + [0x90] + [UInt8](repeating: 0, count: 15), MatroskaValidator.check))
        #expect(
            passes(header + segment + [0x01] + [UInt8](repeating: 0xFF, count: 7) + [1, 2], MatroskaValidator.check))
    }

    @Test func `the last page of an Ogg file is whole`() {
        let page =
            Array("OggS".utf8) + [UInt8](repeating: 0, count: 22) + [2, 255, 10] + [UInt8](repeating: 5, count: 265)
        #expect(passes(page + page, OggValidator.check))
        #expect(!passes(page + page.dropLast(3), OggValidator.check))
    }

    @Test func `ADTS frames are walked to the end`() throws {
        let frame: [UInt8] = [0xFF, 0xF1, 0x50, 0x80, 0x02, 0x1F, 0xFC] + [UInt8](repeating: 1, count: 9)
        #expect(try ADTSParser.walk(WalkBytes.window(frame + frame + frame)).frames == 3)
        #expect(!passes(frame + frame + frame.dropLast(2)) { _ = try ADTSParser.walk($0) })
        #expect(!passes([UInt8](repeating: 0x41, count: 200_000)) { _ = try ADTSParser.walk($0) })
    }

    @Test func `the last picture of bare video has all its slices`() {
        func picture(rows: ClosedRange<UInt8>) -> [UInt8] {
            [0, 0, 1, 0x00, 1, 2, 3, 4] + rows.flatMap { [0, 0, 1, $0, 9, 9, 9] }
        }
        #expect(passes(picture(rows: 1...15) + picture(rows: 1...15), MPEGVideoValidator.check))
        #expect(!passes(picture(rows: 1...15) + picture(rows: 1...9), MPEGVideoValidator.check))
        #expect(!passes(picture(rows: 1...15) + [0, 0, 1, 0x00, 1, 2], MPEGVideoValidator.check))
    }
}
