import Foundation
import RichPush
import TestSupport
import Testing
import Vips

@testable import MediaProcessing

/// Numbers that no honest file has, as fuzzing found them: each one ended the process before.
@Suite struct HostileNumberTests {
    private func expectCorrupt(_ bytes: [UInt8], _ walk: (ByteWindow) throws -> Void) throws {
        let folder = try TemporaryFolder()
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.write(bytes, to: "file")))
        let windows = [
            WalkBytes.window(bytes),
            try ByteWindow(descriptor: file.fileDescriptor, noun: "file", deadline: .now + .seconds(60)),
        ]
        for window in windows {
            let error = #expect(throws: AttachPrepError.self) { try walk(window) }
            #expect(error?.code == .mediaCorrupt)
        }
    }

    @Test(arguments: [0, 1])
    func `a JPEG segment shorter than its own length is corrupt`(length: Int) throws {
        let bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + WalkBytes.bigEndian(length, 2) + [0xFF, 0xD9]
        try expectCorrupt(bytes) { _ = try JPEGSegments.walk($0) }
        try expectCorrupt(bytes) { _ = try JPEGSegments.walkHeader($0) }
    }

    @Test(arguments: [Int.max, Int.max - 7, -1, Int.min])
    func `a BigTIFF whose directory stands where no file has a byte is corrupt`(offset: Int) throws {
        try expectCorrupt(Array("II+\0".utf8) + [8, 0, 0, 0] + WalkBytes.littleEndian(offset, 8)) {
            try TIFFValidator.walk($0)
        }
    }

    @Test(arguments: [Int.min, -1, Int.max])
    func `a BigTIFF whose strip stands where no file has a byte is corrupt`(offset: Int) throws {
        func entry(_ tag: Int, _ value: Int) -> [UInt8] {
            WalkBytes.littleEndian(tag, 2) + WalkBytes.littleEndian(16, 2) + WalkBytes.littleEndian(1, 8)
                + WalkBytes.littleEndian(value, 8)
        }
        let directory = WalkBytes.littleEndian(2, 8) + entry(273, offset) + entry(279, 9)
        try expectCorrupt(Array("II+\0".utf8) + [8, 0, 0, 0] + WalkBytes.littleEndian(16, 8) + directory) {
            try TIFFValidator.walk($0)
        }
    }

    @Test func `an AVIF that plays for as long as a number can say repeats its edits that often`() throws {
        let header = WalkBytes.box(
            "tkhd", [1, 0, 0, 0] + [UInt8](repeating: 0, count: 24) + WalkBytes.bigEndian(.max, 8))
        let list = WalkBytes.box("elst", [1, 0, 0, 1, 0, 0, 0, 1] + WalkBytes.bigEndian(2, 8))
        let track = WalkBytes.box("trak", header + WalkBytes.box("edts", list))
        let count = try AVIFLoopCount.count(WalkBytes.window(WalkBytes.box("moov", track)))
        #expect(count == .max / 2 + 1)
    }

    @Test(arguments: [(60_000, 2_000, Int.max), (1, 1, .max), (.max, .max, .max), (.max, 2, 1)])
    func `sides and frames whose product is no number are too many pixels`(width: Int, height: Int, frames: Int) {
        let error = #expect(throws: AttachPrepError.self) {
            try ImageLimits.check(width: width, height: height, frames: frames)
        }
        #expect(error?.code == .mediaTooManyPixels)
    }

    @Test(arguments: [0.0, .nan, .infinity, 1e300])
    func `frames are resized to what a side can be`(scale: Double) {
        let resizer = FrameResizer(width: 640, height: 480, scale: scale)
        #expect(resizer.width >= 1 && resizer.height >= 1)
    }

    @Test(arguments: [Int.min, -1, 0, 1, 2, 65_536, .max])
    func `a GIF's number of repetitions has two bytes, whatever the source says`(plays: Int) {
        let block = GIFBlocks.loops(plays)
        #expect(block.isEmpty == (plays == 1))
        let repetitions = block.isEmpty ? 0 : Int(block[16]) | Int(block[17]) << 8
        #expect(repetitions == (plays < 2 ? 0 : min(plays - 1, 0xFFFF)))
    }

    @Test func `a PNG whose profiles would be put in front of every frame has a limit to them`() throws {
        func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
            WalkBytes.bigEndian(content.count, 4) + Array(type.utf8) + content + [0, 0, 0, 0]
        }
        let profile = chunk("iCCP", [UInt8](repeating: 0, count: 1_000_000))
        let bytes =
            [UInt8](repeating: 0, count: 8) + Array(repeatElement(profile, count: 5).joined()) + chunk("IEND", [])
        try expectCorrupt(bytes) { _ = try APNGParser.walk($0, width: 1, height: 1) }
    }
}
