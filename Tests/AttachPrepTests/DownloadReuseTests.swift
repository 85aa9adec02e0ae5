import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

/// Which connections carry a second request over plain HTTP, and that nothing left on one is taken for its answer
/// (issue 18).
@Suite(.timeLimit(.minutes(1))) struct DownloadReuseTests {
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
    func `Bytes that come when the next request is out are not its answer`(answer: String) async throws {
        // Nothing is there to be seen before the request: whoever looks first, and then uses the connection, is fooled.
        let late = LoopbackAnswer.Step.receive { $0.range(of: Data("GET /next".utf8)) != nil }
        server.serve("/cat", .raw(answer).then(late, .send(Self.fake)))
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
        LoopbackAnswer.body(meow),
        .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nmeow\r\n0\r\n\r\n"),
        .status(404, [:], Data("no".utf8)),
    ])
    func `A connection whose answer ended in order is used again`(answer: LoopbackAnswer) async throws {
        server.serve("/cat", answer)
        for _ in 0..<10 { _ = await Result { try await bench.fetch(server.url("/cat")).bytes } }
        #expect(server.requests.count == 10)
        #expect(server.connectionCount == 1)
    }
}
