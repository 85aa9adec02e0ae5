import TestSupport
import Testing

@testable import Shaping

/// Files served by the real binary.
@Suite(.timeLimit(.minutes(2))) struct ServedFileTests {
    private static let image = ShapingServerBench.bytes(300_000)

    @Test func `A file is served unchanged, with type and length`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.image, "a b.webp": [1, 2, 3]])
        #expect(try await bench.fetch("/cat.jpg").output == Self.image)
        let head = try await bench.head("/cat.jpg?width=300")
        #expect(head.first == "HTTP/1.1 200 OK")
        #expect(head.contains("Content-Type: image/jpeg"))
        #expect(head.contains("Content-Length: 300000"))
        #expect(try await bench.fetch("/a%20b.webp").output == [1, 2, 3])
        #expect(try await bench.head("/a%20b.webp").contains("Content-Type: image/webp"))
    }

    @Test func `A file over a slow link arrives unchanged`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.image], network: "12000,70")
        #expect(try await bench.fetch("/cat.jpg").output == Self.image)
    }

    @Test func `An empty file is served with length 0`() async throws {
        let bench = try await ShapingServerBench(files: ["empty.png": []])
        #expect(try await bench.head("/empty.png").contains("Content-Length: 0"))
        #expect(try await bench.fetch("/empty.png").output.isEmpty)
    }

    @Test func `A range is served as partial content`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.image])
        #expect(
            try await bench.fetch("/cat.jpg", ["-r", "70000-199999"]).output == Array(Self.image[70_000..<200_000]))
        let head = try await bench.head("/cat.jpg", ["-r", "-10"])
        #expect(head.first == "HTTP/1.1 206 Partial Content")
        #expect(head.contains("Content-Range: bytes 299990-299999/300000"))
        #expect(try await bench.head("/cat.jpg", ["-r", "300000-"]).first == "HTTP/1.1 416 Range Not Satisfiable")
    }

    @Test func `If-None-Match gives 304, and a different If-Range the whole file`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.image])
        let tag = try #require(try await bench.head("/cat.jpg").first { $0.hasPrefix("ETag: ") }?.dropFirst(6))
        #expect(try await bench.head("/cat.jpg", ["-H", "If-None-Match: \(tag)"]).first == "HTTP/1.1 304 Not Modified")
        let other = ["-r", "0-9", "-H", "If-Range: \"other\""]
        #expect(try await bench.head("/cat.jpg", other).first == "HTTP/1.1 200 OK")
    }

    @Test func `HEAD has the Content-Length of GET`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.image])
        let lines = try await bench.fetch("/cat.jpg", ["-I"]).text
        #expect(lines.contains("Content-Length: 300000"))
    }

    @Test(arguments: [
        "/", "/dog.jpg", "/../secret.txt", "/%2e%2e/secret.txt", "/way-out.txt", "/cat.jpg/x", "/cat.jpg%00.png",
        "//etc/passwd", "/%zz",
    ])
    func `Only files of the folder are served`(path: String) async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.image])
        #expect(try await bench.head(path).first == "HTTP/1.1 404 Not Found")
    }

    @Test func `Methods other than GET and HEAD are rejected`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.image])
        let head = try await bench.head("/cat.jpg", ["-X", "DELETE"])
        #expect(head.first == "HTTP/1.1 405 Method Not Allowed")
        #expect(head.contains("Allow: GET, HEAD"))
    }

    @Test func `A connection is reused for several files`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.image, "dog.png": [4, 5]])
        let both = ["-w", "%{num_connects}", bench.url("/dog.png")]
        #expect(
            try await bench.fetch("/cat.jpg", both).output == [4, 5] + Array("1".utf8) + Self.image + Array("0".utf8))
    }
}

@Suite struct ByteRangeTests {
    @Test(arguments: [
        (nil, ByteRange.all), ("bytes=0-0", .part(0..<1)), ("bytes=5-9", .part(5..<10)), ("bytes=95-", .part(95..<100)),
        ("bytes=-3", .part(97..<100)), ("bytes=-300", .part(0..<100)), ("bytes=90-300", .part(90..<100)),
        ("bytes=100-", .none), ("bytes=-0", .none), ("bytes=99999999999999999999-", .none),
        ("bytes=9-5", .all), ("bytes=-", .all), ("bytes=1-2,4-5", .all), ("lines=1-2", .all), ("bytes=a-b", .all),
    ])
    func `A Range header is parsed as in RFC 9110`(field: String?, range: ByteRange) {
        #expect(ByteRange(field, of: 100) == range)
    }

    @Test func `An empty file has no satisfiable range`() {
        #expect(ByteRange("bytes=0-", of: 0) == .none)
        #expect(ByteRange("bytes=-5", of: 0) == .none)
    }
}
