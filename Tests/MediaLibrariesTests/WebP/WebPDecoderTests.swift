import TestSupport
import Testing

@testable import MediaLibraries

struct WebPDecoderTests {
    private struct StopError: Error {}

    private static func decode(_ file: WebPFile, _ chunk: [UInt8]? = nil) throws -> WebPComponents {
        try WebPDecoder.decode(chunk ?? file.chunk, width: file.width, height: file.height) {}
    }

    @Test(arguments: [(640, 480), (397, 295), (16, 16), (17, 1), (1, 1)])
    func `Components equal those of FFmpeg's decoder`(width: Int, height: Int) throws {
        let file = try WebPFile(width: width, height: height)
        let components = try Self.decode(file)
        #expect(components.blue.count == (width + 1) / 2 * ((height + 1) / 2))
        #expect(components.red.count == components.blue.count)
        #expect(try components.luma + components.blue + components.red == file.reference())
    }

    @Test func `An image in several partitions is decoded completely`() throws {
        let file = try WebPFile(width: 640, height: 480, ["-define", "webp:partitions=3", "-quality", "95"])
        let components = try Self.decode(file)
        #expect(try components.luma + components.blue + components.red == file.reference())
    }

    @Test(arguments: [0.0, 0.001, 0.3, 0.9, 0.99]) func `A truncated chunk is an error`(share: Double) throws {
        let file = try WebPFile(width: 640, height: 480)
        let truncated = Array(file.chunk.prefix(Int(Double(file.chunk.count) * share)))
        #expect(throws: WebPError.self) { try Self.decode(file, truncated) }
    }

    @Test(arguments: [(641, 480), (640, 481), (639, 480), (640, 479), (320, 240), (1280, 960)])
    func `An image of another size than declared is an error`(width: Int, height: Int) throws {
        let file = try WebPFile(width: 640, height: 480)
        #expect(throws: WebPError.self) { try WebPDecoder.decode(file.chunk, width: width, height: height) {} }
    }

    @Test func `Bytes that are not an image are an error`() throws {
        let file = try WebPFile(width: 640, height: 480)
        #expect(throws: WebPError.self) { try Self.decode(file, [UInt8](repeating: 0x5A, count: 5_000)) }
        #expect(throws: WebPError.self) { try Self.decode(file, []) }
    }

    @Test(arguments: [(0, 480), (640, 0), (-1, 480), (16_384, 480), (.max, .max)])
    func `Sides that WebP does not allow are an error`(width: Int, height: Int) throws {
        let file = try WebPFile(width: 640, height: 480)
        #expect(throws: WebPError.self) { try WebPDecoder.decode(file.chunk, width: width, height: height) {} }
    }

    @Test func `An error thrown by the progress callback ends decoding`() throws {
        let file = try WebPFile(width: 640, height: 480, ["-quality", "99"])
        var calls = 0
        #expect(throws: StopError.self) {
            try WebPDecoder.decode(file.chunk, width: file.width, height: file.height) {
                calls += 1
                if calls == 2 { throw StopError() }
            }
        }
        #expect(calls == 2)
    }
}
