import TestSupport
import Testing

/// Files, as the real binary serves them.
@Suite(.timeLimit(.minutes(2))) struct ServedFileTests {
    private static let picture = ShapingServerBench.bytes(300_000)

    @Test func `A file arrives byte for byte, with its type and length`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.picture, "a b.webp": [1, 2, 3]])
        #expect(try await bench.fetch("/cat.jpg").output == Self.picture)
        let head = try await bench.head("/cat.jpg?width=300")
        #expect(head.first == "HTTP/1.1 200 OK")
        #expect(head.contains("Content-Type: image/jpeg"))
        #expect(head.contains("Content-Length: 300000"))
        #expect(try await bench.fetch("/a%20b.webp").output == [1, 2, 3])
        #expect(try await bench.head("/a%20b.webp").contains("Content-Type: image/webp"))
    }

    @Test func `A slow link changes when bytes arrive, not which`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.picture], network: "12000,70")
        #expect(try await bench.fetch("/cat.jpg").output == Self.picture)
    }

    @Test func `An empty file is an answer, too`() async throws {
        let bench = try await ShapingServerBench(files: ["empty.png": []])
        #expect(try await bench.head("/empty.png").contains("Content-Length: 0"))
        #expect(try await bench.fetch("/empty.png").output.isEmpty)
    }

    @Test func `A part of a file is served as a part`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.picture])
        #expect(
            try await bench.fetch("/cat.jpg", ["-r", "70000-199999"]).output == Array(Self.picture[70_000..<200_000]))
        let head = try await bench.head("/cat.jpg", ["-r", "-10"])
        #expect(head.first == "HTTP/1.1 206 Partial Content")
        #expect(head.contains("Content-Range: bytes 299990-299999/300000"))
        #expect(try await bench.head("/cat.jpg", ["-r", "300000-"]).first == "HTTP/1.1 416 Range Not Satisfiable")
    }

    @Test func `Who has a file already is told so, and gets all of it when it is another`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.picture])
        let tag = try #require(try await bench.head("/cat.jpg").first { $0.hasPrefix("ETag: ") }?.dropFirst(6))
        #expect(try await bench.head("/cat.jpg", ["-H", "If-None-Match: \(tag)"]).first == "HTTP/1.1 304 Not Modified")
        let other = ["-r", "0-9", "-H", "If-Range: \"other\""]
        #expect(try await bench.head("/cat.jpg", other).first == "HTTP/1.1 200 OK")
    }

    @Test func `HEAD says what GET would`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.picture])
        let lines = try await bench.fetch("/cat.jpg", ["-I"]).text
        #expect(lines.contains("Content-Length: 300000"))
    }

    @Test(arguments: [
        "/", "/dog.jpg", "/../secret.txt", "/%2e%2e/secret.txt", "/way-out.txt", "/cat.jpg/x", "/cat.jpg%00.png",
        "//etc/passwd", "/%zz",
    ])
    func `Nothing but the folder's files is served`(path: String) async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.picture])
        #expect(try await bench.head(path).first == "HTTP/1.1 404 Not Found")
    }

    @Test func `Other methods are refused`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.picture])
        let head = try await bench.head("/cat.jpg", ["-X", "DELETE"])
        #expect(head.first == "HTTP/1.1 405 Method Not Allowed")
        #expect(head.contains("Allow: GET, HEAD"))
    }

    @Test func `A connection serves one file after the other`() async throws {
        let bench = try await ShapingServerBench(files: ["cat.jpg": Self.picture, "dog.png": [4, 5]])
        let both = ["-w", "%{num_connects}", bench.url("/dog.png")]
        #expect(
            try await bench.fetch("/cat.jpg", both).output == [4, 5] + Array("1".utf8) + Self.picture + Array("0".utf8))
    }
}
