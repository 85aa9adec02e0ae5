import AttachPrepModel
import MediaProcessing
import MediaTypes
import Testing

@Suite struct ISOBoxParserTests {
    private func movie(entry: String = "avc1") -> [UInt8] {
        let description = ParserBytes.box("stsd", [0, 0, 0, 0, 0, 0, 0, 1] + ParserBytes.box(entry, [1, 2, 3]))
        return ["stbl", "minf", "mdia", "trak", "moov"].reduce(description) { ParserBytes.box($1, $0) }
    }

    private let brand = ParserBytes.box("ftyp", Array("isom".utf8) + [0, 0, 0, 0])
    private let samples = ParserBytes.box("mdat", [UInt8](repeating: 9, count: 100))

    private func parse(_ bytes: [UInt8]) throws -> ISOBoxParser { try ISOBoxParser.parse(ParserBytes.window(bytes)) }

    private func code(_ bytes: [UInt8]) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try parse(bytes) }?.code
    }

    @Test func `An intact file gives its major brand`() throws {
        let parser = try parse(brand + movie() + samples)
        #expect(parser.majorBrand == "isom")
        #expect(!parser.isEncrypted)
    }

    @Test func `A media data box longer than the file is accepted only after an index`() throws {
        #expect(try parse(brand + movie() + samples.dropLast()).mediaDataExceedsFile)
        #expect(try !parse(brand + movie() + samples).mediaDataExceedsFile)
        #expect(code(brand + samples.dropLast()) == .mediaCorrupt)
        #expect(code(brand + movie() + ParserBytes.box("moof") + samples.dropLast()) == .mediaCorrupt)
    }

    @Test func `Text after a complete movie is trailing data`() throws {
        #expect(try parse(brand + samples + movie() + Array("<html>Not found</html>".utf8)).hasTrailingData)
        #expect(try !parse(brand + samples + movie()).hasTrailingData)
        #expect(code(brand + samples + Array("<html>Not found</html>".utf8)) == .mediaCorrupt)
    }

    @Test(arguments: ["moof", "sidx", "styp"])
    func `A truncated fragment after the movie box is corrupt`(type: String) {
        #expect(code(brand + movie() + ParserBytes.box(type, [1, 2, 3, 4]).dropLast()) == .mediaCorrupt)
    }

    @Test func `A few bytes after the last fragment are ignored`() throws {
        let fragments = brand + movie() + ParserBytes.box("moof") + samples
        _ = try parse(fragments + [UInt8](repeating: 0, count: 16))
        #expect(code(fragments + [UInt8](repeating: 0, count: 500)) == .mediaCorrupt)
    }

    @Test(arguments: [("traf", [UInt8](repeating: 0, count: 20)), ("traf", [0, 0, 0, 99] + Array("trun".utf8))])
    func `A fragment whose boxes do not fill it is corrupt`(type: String, content: [UInt8]) {
        let fragment = ParserBytes.box("moof", ParserBytes.box(type, content))
        #expect(code(brand + movie() + fragment + samples) == .mediaCorrupt)
    }

    @Test func `A file without a movie box is corrupt`() {
        #expect(code(brand + samples) == .mediaCorrupt)
    }

    @Test func `A truncated movie box is corrupt`() {
        #expect(code(brand + samples + movie().dropLast(5)) == .mediaCorrupt)
    }

    @Test(arguments: ["encv", "enca", "drms", "drmi"]) func `Encrypted samples are recognized`(entry: String) throws {
        #expect(try parse(brand + movie(entry: entry) + samples).isEncrypted)
    }

    @Test func `A box of size 0 extends to the end of the file`() throws {
        _ = try parse(brand + movie() + [0, 0, 0, 0] + Array("mdat".utf8) + [1, 2, 3])
    }

    @Test func `A 64-bit size is read, and one beyond the file is corrupt`() throws {
        let large = [0, 0, 0, 1] + Array("mdat".utf8) + ParserBytes.bigEndian(20, 8) + [1, 2, 3, 4]
        _ = try parse(brand + movie() + large)
        let absurd = [0, 0, 0, 1] + Array("mdat".utf8) + [UInt8](repeating: 0xFF, count: 8)
        #expect(code(brand + movie() + absurd) == .mediaCorrupt)
    }

    @Test func `Zeros and junk after a complete movie are ignored`() throws {
        _ = try parse(brand + movie() + samples + [UInt8](repeating: 0, count: 500))
        _ = try parse(brand + movie() + samples + [0, 0, 0, 3, 1, 2, 3, 4, 5, 6])
    }

    @Test func `A QuickTime file without a file type box has no brand`() throws {
        #expect(try parse(samples + movie()).majorBrand == nil)
    }

    @Test func `More boxes than the limit are corrupt`() {
        let many = (0...Limits.boxesMax).flatMap { _ in ParserBytes.box("free") }
        #expect(code(brand + many + movie()) == .mediaCorrupt)
    }
}
