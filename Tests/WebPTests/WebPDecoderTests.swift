import TestSupport
import Testing

@testable import WebP

struct WebPDecoderTests {
    private struct Enough: Error {}

    private static func decode(_ file: WebPFile, _ chunk: [UInt8]? = nil) throws -> WebPComponents {
        try WebPDecoder.decode(chunk ?? file.chunk, width: file.width, height: file.height) {}
    }

    @Test(arguments: [(640, 480), (397, 295), (16, 16), (17, 1), (1, 1)])
    func `Components are those that another decoder reads`(width: Int, height: Int) throws {
        let file = try WebPFile(width: width, height: height)
        let found = try Self.decode(file)
        #expect(found.blue.count == (width + 1) / 2 * ((height + 1) / 2) && found.red.count == found.blue.count)
        #expect(try found.luma + found.blue + found.red == file.reference())
    }

    @Test func `A picture in several partitions is read as one in one`() throws {
        let file = try WebPFile(width: 640, height: 480, ["-define", "webp:partitions=3", "-quality", "95"])
        let found = try Self.decode(file)
        #expect(try found.luma + found.blue + found.red == file.reference())
    }

    @Test(arguments: [0.0, 0.001, 0.3, 0.9, 0.99]) func `A chunk that is cut is a fault`(share: Double) throws {
        let file = try WebPFile(width: 640, height: 480)
        let cut = Array(file.chunk.prefix(Int(Double(file.chunk.count) * share)))
        #expect(throws: WebPError.self) { try Self.decode(file, cut) }
    }

    @Test(arguments: [(641, 480), (640, 481), (639, 480), (640, 479), (320, 240), (1280, 960)])
    func `A picture of another size than announced is a fault`(width: Int, height: Int) throws {
        let file = try WebPFile(width: 640, height: 480)
        #expect(throws: WebPError.self) { try WebPDecoder.decode(file.chunk, width: width, height: height) {} }
    }

    @Test func `Bytes that are no picture are a fault`() throws {
        let file = try WebPFile(width: 640, height: 480)
        #expect(throws: WebPError.self) { try Self.decode(file, [UInt8](repeating: 0x5A, count: 5_000)) }
        #expect(throws: WebPError.self) { try Self.decode(file, []) }
    }

    @Test(arguments: [(0, 480), (640, 0), (-1, 480), (16_384, 480), (.max, .max)])
    func `Sides that no WebP has are a fault`(width: Int, height: Int) throws {
        let file = try WebPFile(width: 640, height: 480)
        #expect(throws: WebPError.self) { try WebPDecoder.decode(file.chunk, width: width, height: height) {} }
    }

    @Test func `Who is asked between pieces can end it`() throws {
        let file = try WebPFile(width: 640, height: 480, ["-quality", "99"])
        var asked = 0
        #expect(throws: Enough.self) {
            try WebPDecoder.decode(file.chunk, width: file.width, height: file.height) {
                asked += 1
                if asked == 2 { throw Enough() }
            }
        }
        #expect(asked == 2)
    }
}
