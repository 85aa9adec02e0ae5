import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep

/// Which connections are reused over plain HTTP, and that leftover bytes are never used as the next response
/// (issue 18).
@Suite(.timeLimit(.minutes(1))) struct ConnectionReuseTests {
    let server: LoopbackServer
    let bench: DownloadBench
    private static let meow = Data("meow".utf8)
    private static let fake = Data("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake".utf8)

    init() throws {
        server = try LoopbackServer()
        bench = try DownloadBench()
        server.serve("/next", .body(Self.meow))
    }

    @Test(arguments: [
        "HTTP/1.1 304 Same\r\n\r\n", "HTTP/1.1 304 Same\r\nContent-Length: 42\r\n\r\n",
        "HTTP/1.1 304 Same\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 204 None\r\n\r\n",
        "HTTP/1.1 205 Reset\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmeow",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nmeow\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 4\r\n\r\nmeow",
    ])
    func `Bytes that arrive after the next request is sent are not its response`(response: String) async throws {
        // The bytes arrive after the request, so that checking the connection before reusing it does not find them.
        let late = LoopbackResponse.Step.receive { $0.range(of: Data("GET /next".utf8)) != nil }
        server.serve("/cat", .raw(response).then(late, .send(Self.fake)))
        var request = DownloadRequest(url: server.url("/cat"), deadline: .now + .seconds(30))
        request.validators = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        _ = await Result { [request] in
            try await bench.downloader.download(request, into: bench.descriptor) { _, _ in .anything }
        }
        try await bench.fetch(server.url("/next"))
        #expect(try bench.content == Self.meow)
        #expect(server.connectionCount == 2)
    }

    @Test(arguments: [
        LoopbackResponse.body(meow),
        .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nmeow\r\n0\r\n\r\n"),
        .status(404, [:], Data("no".utf8)),
    ])
    func `A connection is reused after a complete response`(response: LoopbackResponse) async throws {
        server.serve("/cat", response)
        for _ in 0..<10 { _ = await Result { try await bench.fetch(server.url("/cat")).bytes } }
        #expect(server.requests.count == 10)
        #expect(server.connectionCount == 1)
    }

    // MARK: Leftover bytes

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", "meow"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "4\r\nmeow\r\n0\r\n\r\n"),
            ("HTTP/1.1 204 None\r\n\r\n", ""), ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "meow"),
            ("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", ""),
            ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n\r\n"),
        ], [true, false])
    func `Bytes after a response are not used as the next response`(
        response: (head: String, body: String), inOnePiece: Bool
    ) async throws {
        let sent = LoopbackGate()
        let (head, rest) = (Data(response.head.utf8), Data(response.body.utf8) + Self.fake)
        let pieces = inOnePiece ? [LoopbackResponse.Step.send(head + rest)] : [.send(head), .send(rest)]
        server.serve("/cat", LoopbackResponse(pieces + [.open(sent)]))
        server.serve("/next", .body(Self.meow))
        _ = await Result { try await bench.fetch(server.url("/cat")) }
        #expect(try bench.content != Data("fake".utf8))
        await sent.waitUntilOpen()
        // The first response's connection is closed, or the extra bytes are discarded.
        try await bench.fetch(server.url("/next"))
        #expect(try bench.content == Self.meow)
    }

    @Test(arguments: ["302 Found\r\nLocation: /next", "503 Busy"])
    func `Bytes after a redirect or an error are not used as the next response`(head: String) async throws {
        let spoiled = LoopbackResponse.raw("HTTP/1.1 \(head)\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\nfake")
        server.serve("/cat", inTurn: [spoiled, .body(Self.meow)])
        server.serve("/next", .body(Self.meow))
        try await bench.fetch(server.url("/cat"))
        #expect(try bench.content == Self.meow)
    }

    @Test func `Bytes that arrive between requests are not used as the next response`() async throws {
        let gate = LoopbackGate()
        let sent = LoopbackGate()
        server.serve("/cat", .body(Self.meow).then(.wait(gate), .send(Self.fake), .open(sent), .hang))
        server.serve("/next", .body(Self.meow))
        try await bench.fetch(server.url("/cat"))
        gate.open()
        await sent.waitUntilOpen()
        try await bench.fetch(server.url("/next"))
        #expect(try bench.content == Self.meow)
        #expect(server.connectionCount == 2)
    }
}
