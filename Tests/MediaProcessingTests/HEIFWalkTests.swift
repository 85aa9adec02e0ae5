import RichPush
import TestSupport
import Testing

@testable import MediaProcessing

@Suite struct HEIFWalkTests {
    private static func made(_ item: Int, of parts: [Int]) -> [UInt8] {
        MediaBytes.box(
            "dimg",
            MediaBytes.bigEndian(item, 2) + MediaBytes.bigEndian(parts.count, 2)
                + parts.flatMap { MediaBytes.bigEndian($0, 2) })
    }

    private static func check(_ references: [UInt8], behind tail: [UInt8] = []) throws {
        let meta = MediaBytes.fullBox("meta", MediaBytes.fullBox("iref", references))
        let bytes = MediaBytes.box("ftyp", MediaBytes.text("heic")) + meta + tail
        try HEIFReferenceValidator.check(ByteWindow(bytes: bytes, noun: "HEIF"))
    }

    private static func code(_ references: [UInt8]) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try check(references) }?.code
    }

    @Test func `a grid of tiles, turned, is made of them`() throws {
        try Self.check(Self.made(1, of: [2]) + Self.made(2, of: Array(3..<195)))
    }

    @Test func `a picture without parts has none to follow`() throws {
        try Self.check([])
        try HEIFReferenceValidator.check(
            ByteWindow(bytes: MediaBytes.box("ftyp") + MediaBytes.fullBox("meta"), noun: "HEIF"))
    }

    @Test(arguments: [[1], [2, 1], [2, 3, 1], [2, 3, 4, 2]]) func `a picture made of itself is corrupt`(chain: [Int]) {
        let links = zip([1] + chain, chain).flatMap { Self.made($0, of: [$1]) }
        #expect(Self.code(links) == .mediaCorrupt)
    }

    @Test func `grids of grids are counted as what they take`() {
        let links = (1...3).flatMap { Self.made($0, of: [Int](repeating: $0 + 1, count: 256)) }
        #expect(Self.code(links) == .mediaTooManyPixels)
    }

    @Test func `parts that are not there are corrupt`() {
        let short = MediaBytes.box("dimg", MediaBytes.bigEndian(1, 2) + MediaBytes.bigEndian(500, 2))
        #expect(Self.code(short) == .mediaCorrupt)
    }

    @Test func `what follows the pictures is nobody's`() throws {
        try Self.check(Self.made(1, of: [2]), behind: MediaBytes.text("trailer of some maker"))
    }
}
