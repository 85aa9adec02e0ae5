import Foundation
import MediaLibraries
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

/// Out-of-range numbers that fuzzing found: each one crashed the process before.
@Suite struct HostileNumberTests {
    private func expectCorrupt(_ bytes: [UInt8], _ parse: (ByteWindow) throws -> Void) throws {
        let folder = try TemporaryFolder()
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.write(bytes, to: "file")))
        let windows = [
            ParserBytes.window(bytes),
            try ByteWindow(descriptor: file.fileDescriptor, noun: "file", deadline: .now + .seconds(60)),
        ]
        for window in windows {
            let error = #expect(throws: AttachPrepError.self) { try parse(window) }
            #expect(error?.code == .mediaCorrupt)
        }
    }

    @Test(arguments: [0, 1])
    func `A JPEG segment shorter than its length field is corrupt`(length: Int) throws {
        let bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + ParserBytes.bigEndian(length, 2) + [0xFF, 0xD9]
        try expectCorrupt(bytes) { _ = try JPEGSegments.parse($0) }
        try expectCorrupt(bytes) { _ = try JPEGSegments.parseHeader($0) }
    }

    @Test(arguments: [Int.max, Int.max - 7, -1, Int.min])
    func `A BigTIFF with an impossible directory offset is corrupt`(offset: Int) throws {
        try expectCorrupt(Array("II+\0".utf8) + [8, 0, 0, 0] + ParserBytes.littleEndian(offset, 8)) {
            _ = try TIFFValidator.parse($0)
        }
    }

    @Test(arguments: [Int.min, -1, Int.max])
    func `A BigTIFF with an impossible strip offset is corrupt`(offset: Int) throws {
        func entry(_ tag: Int, _ value: Int) -> [UInt8] {
            ParserBytes.littleEndian(tag, 2) + ParserBytes.littleEndian(16, 2) + ParserBytes.littleEndian(1, 8)
                + ParserBytes.littleEndian(value, 8)
        }
        let directory = ParserBytes.littleEndian(2, 8) + entry(273, offset) + entry(279, 9)
        try expectCorrupt(Array("II+\0".utf8) + [8, 0, 0, 0] + ParserBytes.littleEndian(16, 8) + directory) {
            _ = try TIFFValidator.parse($0)
        }
    }

    @Test func `The loop count of an AVIF with the largest duration does not overflow`() throws {
        let header = ParserBytes.box(
            "tkhd", [1, 0, 0, 0] + [UInt8](repeating: 0, count: 24) + ParserBytes.bigEndian(.max, 8))
        let list = ParserBytes.box("elst", [1, 0, 0, 1, 0, 0, 0, 1] + ParserBytes.bigEndian(2, 8))
        let track = ParserBytes.box("trak", header + ParserBytes.box("edts", list))
        let count = try AVIFLoopCount.count(ParserBytes.window(ParserBytes.box("moov", track)))
        #expect(count == .max / 2 + 1)
    }

    @Test(arguments: [(60_000, 2_000, Int.max), (1, 1, .max), (.max, .max, .max), (.max, 2, 1)])
    func `Sides and frames whose product overflows are too many pixels`(width: Int, height: Int, frames: Int) {
        let error = #expect(throws: AttachPrepError.self) {
            try ImageLimits.check(width: width, height: height, frames: frames)
        }
        #expect(error?.code == .mediaTooManyPixels)
    }

    @Test(arguments: [0.0, .nan, .infinity, 1e300])
    func `An invalid scale gives sides of at least one pixel`(scale: Double) {
        let resizer = FrameResizer(width: 640, height: 480, scale: scale)
        #expect(resizer.width >= 1 && resizer.height >= 1)
    }

    @Test(arguments: [Int.min, -1, 0, 1, 2, 65_536, .max])
    func `The repetitions of a GIF are limited to 16 bits`(plays: Int) {
        let block = GIFBlocks.loops(plays)
        #expect(block.isEmpty == (plays == 1))
        let repetitions = block.isEmpty ? 0 : Int(block[16]) | Int(block[17]) << 8
        #expect(repetitions == (plays < 2 ? 0 : min(plays - 1, 0xFFFF)))
    }

    @Test func `An APNG whose profiles exceed the limit is corrupt`() throws {
        func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
            ParserBytes.bigEndian(content.count, 4) + Array(type.utf8) + content + [0, 0, 0, 0]
        }
        let profile = chunk("iCCP", [UInt8](repeating: 0, count: 1_000_000))
        let bytes =
            [UInt8](repeating: 0, count: 8) + Array(repeatElement(profile, count: 5).joined()) + chunk("IEND", [])
        try expectCorrupt(bytes) { _ = try APNGParser.parse($0, width: 1, height: 1) }
    }
}
