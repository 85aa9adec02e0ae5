import Foundation
import TestSupport
import Testing

/// Downloads that fail on the way: each has its code, and leaves nothing.
@Suite(.timeLimit(.minutes(3))) struct DownloadErrorTests {
    let bench: CommandBench
    let server: LoopbackServer
    let picture: Data

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
        picture = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
    }

    @Test func `A closed port is download.connect`() async throws {
        let port = try RawPort(greeting: nil)
        try await bench.expectRejection("download.connect", of: "http://127.0.0.1:\(port.number)/cat.jpg")
    }

    @Test(arguments: [400, 401, 403, 500, 503])
    func `A status that is no success is download.http_status`(status: Int) async throws {
        server.serve("/cat.jpg", .status(status, [:], Data("no".utf8)))
        try await bench.expectRejection("download.http_status", of: server.url("/cat.jpg"))
    }

    @Test func `Redirects without end are download.too_many_redirects`() async throws {
        server.serve("/cat.jpg", .redirect("/cat.jpg?again"))
        try await bench.expectRejection("download.too_many_redirects", of: server.url("/cat.jpg"))
        #expect(server.requests.count == 6)
    }

    @Test func `A body shorter than it was said to be is download.truncated`() async throws {
        server.serve("/cat.jpg", .start(of: picture, bytes: 30_000).then(.close))
        try await bench.expectRejection("download.truncated", of: server.url("/cat.jpg"))
    }

    @Test func `A chunked body that ends too early is download.truncated`() async throws {
        let head = LoopbackAnswer.head(200, ["Transfer-Encoding": "chunked"])
        server.serve("/cat.jpg", head.then(.send(LoopbackAnswer.chunk(picture)), .close))
        try await bench.expectRejection("download.truncated", of: server.url("/cat.jpg"))
    }

    @Test func `A reset in the middle is resumed where it stopped`() async throws {
        let (body, count) = (picture, 20_000)
        server.serve("/cat.jpg") { request in
            request.number == 1
                ? .start(of: body, bytes: count, ["ETag": "\"1\""]).then(.reset)
                : .ranged(body, etag: "\"1\"", for: request)
        }
        let manifest = try await bench.prepare(server.url("/cat.jpg"))
        #expect(manifest.outcome == "passed" && manifest.source.bytes == picture.count)
        #expect(server.requests.count == 2)
    }

    @Test func `A declared length over the ceiling is download.too_large before the body`() async throws {
        server.serve("/cat.tiff", .head(200, ["Content-Length": "600000000"]).then(.hang))
        try await bench.expectRejection("download.too_large", of: server.url("/cat.tiff"))
    }

    @Test func `A still without end is cut at its ceiling`() async throws {
        let tiff = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.webp")))
        let endless = LoopbackAnswer.head(200).then(.send(tiff), .sendForever(Data(count: 1 << 16)))
        server.serve("/cat.webp", endless)
        try await bench.expectRejection("download.too_large", of: server.url("/cat.webp"))
    }

    @Test func `A server that never answers is deadline.exceeded when the budget is over`() async throws {
        server.serve("/cat.jpg", LoopbackAnswer([.hang]))
        try await bench.expectRejection("deadline.exceeded", of: server.url("/cat.jpg"), "--budget", "700ms")
    }

    @Test func `A body that never ends in time is deadline.exceeded`() async throws {
        server.serve("/cat.jpg", .start(of: picture, bytes: 30_000).then(.hang))
        try await bench.expectRejection("deadline.exceeded", of: server.url("/cat.jpg"), "--budget", "700ms")
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `A server that never answers is download.timeout when there is time`() async throws {
        server.serve("/cat.jpg", LoopbackAnswer([.hang]))
        // Four tries of fifteen seconds each.
        let words = bench.words("prepare", ["--budget", "300s", server.url("/cat.jpg")])
        let result = try await bench.command(words, timeoutSeconds: 150).run()
        bench.expect(try PrintedManifest(line: try #require(result.lines.first)), rejectedAs: "download.timeout")
        #expect(try bench.leftovers() == [])
    }

    @Test func `https to a server that speaks plain http is download.tls`() async throws {
        let plain = try RawPort(greeting: "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        try await bench.expectRejection("download.tls", of: "https://127.0.0.1:\(plain.number)/cat.jpg")
    }

    @Test func `A certificate that nobody vouches for is download.tls, with --ca-file it is good`() async throws {
        let secure = try await SecureServer()
        defer { secure.stop() }
        try await bench.expectRejection("download.tls", of: secure.url("/grid.jpg"))
        let manifest = try await bench.prepare(secure.url("/grid.jpg"), "--ca-file", secure.certificate)
        #expect(manifest.outcome == "passed")
        #expect(try #require(manifest.timings["tls"]) > 0)
    }

    @Test func `A certificate for another name is download.tls`() async throws {
        let secure = try await SecureServer()
        defer { secure.stop() }
        let url = secure.url("/grid.jpg").replacing("127.0.0.1", with: "cdn.example")
        try await bench.expectRejection(
            "download.tls", of: url, "--ca-file", secure.certificate, "--resolve",
            "cdn.example:\(secure.port):127.0.0.1")
    }
}
