import MediaProcessing
import RichPush
import Testing

@Suite struct BoxWalkTests {
    private func movie(entry: String = "avc1") -> [UInt8] {
        let description = WalkBytes.box("stsd", [0, 0, 0, 0, 0, 0, 0, 1] + WalkBytes.box(entry, [1, 2, 3]))
        return ["stbl", "minf", "mdia", "trak", "moov"].reduce(description) { WalkBytes.box($1, $0) }
    }

    private let brand = WalkBytes.box("ftyp", Array("isom".utf8) + [0, 0, 0, 0])
    private let samples = WalkBytes.box("mdat", [UInt8](repeating: 9, count: 100))

    private func walk(_ bytes: [UInt8]) throws -> ISOBoxParser { try ISOBoxParser.walk(WalkBytes.window(bytes)) }

    private func code(_ bytes: [UInt8]) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try walk(bytes) }?.code
    }

    @Test func `a whole file gives its brand`() throws {
        let walk = try walk(brand + movie() + samples)
        #expect(walk.majorBrand == "isom")
        #expect(!walk.isEncrypted)
    }

    @Test func `a sample box that is longer than the file is left to the index in front of it`() throws {
        #expect(try walk(brand + movie() + samples.dropLast()).mediaDataExceedsFile)
        #expect(try !walk(brand + movie() + samples).mediaDataExceedsFile)
        #expect(code(brand + samples.dropLast()) == .mediaCorrupt)
        #expect(code(brand + movie() + WalkBytes.box("moof") + samples.dropLast()) == .mediaCorrupt)
        #expect(code(brand + movie() + WalkBytes.box("udta", [1, 2, 3]).dropLast()) == .mediaCorrupt)
    }

    @Test func `some bytes behind the last fragment are no fragment`() throws {
        let fragments = brand + movie() + WalkBytes.box("moof") + samples
        _ = try walk(fragments + [UInt8](repeating: 0, count: 16))
        #expect(code(fragments + [UInt8](repeating: 0, count: 500)) == .mediaCorrupt)
    }

    @Test(arguments: [("traf", [UInt8](repeating: 0, count: 20)), ("traf", [0, 0, 0, 99] + Array("trun".utf8))])
    func `a fragment that its boxes do not fill is corrupt`(type: String, content: [UInt8]) {
        let fragment = WalkBytes.box("moof", WalkBytes.box(type, content))
        #expect(code(brand + movie() + fragment + samples) == .mediaCorrupt)
    }

    @Test func `a file without a movie box is corrupt`() {
        #expect(code(brand + samples) == .mediaCorrupt)
    }

    @Test func `a cut movie box is corrupt`() {
        #expect(code(brand + samples + movie().dropLast(5)) == .mediaCorrupt)
    }

    @Test(arguments: ["encv", "enca", "drms", "drmi"]) func `protected samples are seen`(entry: String) throws {
        #expect(try walk(brand + movie(entry: entry) + samples).isEncrypted)
    }

    @Test func `a box of size 0 reaches to the end`() throws {
        _ = try walk(brand + movie() + [0, 0, 0, 0] + Array("mdat".utf8) + [1, 2, 3])
    }

    @Test func `a large size is read, an absurd one is a cut`() throws {
        let large = [0, 0, 0, 1] + Array("mdat".utf8) + WalkBytes.bigEndian(20, 8) + [1, 2, 3, 4]
        _ = try walk(brand + movie() + large)
        let absurd = [0, 0, 0, 1] + Array("mdat".utf8) + [UInt8](repeating: 0xFF, count: 8)
        #expect(code(brand + movie() + absurd) == .mediaCorrupt)
    }

    @Test func `zeros and junk behind a complete movie are tolerated`() throws {
        _ = try walk(brand + movie() + samples + [UInt8](repeating: 0, count: 500))
        _ = try walk(brand + movie() + samples + [0, 0, 0, 3, 1, 2, 3, 4, 5, 6])
    }

    @Test func `old QuickTime files have no brand`() throws {
        #expect(try walk(samples + movie()).majorBrand == nil)
    }

    @Test func `more boxes than any movie has are corrupt`() {
        let many = (0...Limits.boxesMax).flatMap { _ in WalkBytes.box("free") }
        #expect(code(brand + many + movie()) == .mediaCorrupt)
    }
}
