import Crypto
import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

@Suite(.timeLimit(.minutes(1))) struct DownloadTests {
    let server: LoopbackServer
    let bench: DownloadBench

    init() throws {
        server = try LoopbackServer()
        bench = try DownloadBench()
    }

    @Test func `A body arrives byte for byte, with its digest and the server's word on it`() async throws {
        let body = patterned(300_000)
        server.serve("/cat", .body(body, type: "Image/JPEG; charset=binary"))
        let file = try await bench.fetch(server.url("/cat"))
        #expect(try bench.content == body)
        #expect(file.bytes == body.count)
        #expect(file.sha256 == SHA256.hash(data: body).map { String(format: "%02x", $0) }.joined())
        #expect(file.declaredMIMEType == "image/jpeg")
        #expect(file.finalURL == server.url("/cat"))
        #expect(file.httpVersion == "1.1")
        #expect(file.attempts == 1)
        #expect(file.timings.firstByte > 0)
    }

    @Test func `The request names us, takes anything and asks for no encoding`() async throws {
        server.serve("/cat", .body(patterned(10)))
        try await bench.fetch(server.url("/cat"))
        let headers = try #require(server.requests.first).headers
        #expect(headers["user-agent"]?.hasPrefix("attachprep/") == true)
        #expect(headers["accept"] == "*/*")
        #expect(headers["accept-encoding"] == "identity")
    }

    @Test(arguments: [LoopbackAnswer.status(204), .status(200)])
    func `An empty answer is an empty file, and the caller is asked about it`(answer: LoopbackAnswer) async throws {
        server.serve("/empty", answer)
        let file = try await bench.fetch(server.url("/empty"))
        #expect(file.bytes == 0)
        #expect(bench.questions.map(\.bytes) == [0])
        #expect(bench.questions.map(\.isComplete) == [true])
    }

    @Test func `Spaces, other scripts and a fragment are put into the form that servers take`() async throws {
        server.serve("/two%20cats/%c3%bc.jpg", .body(patterned(10)))
        server.serve("/two%20cats/%C3%BC.jpg", .body(patterned(10)))
        try await bench.fetch(server.url("/two cats/ü.jpg#top"))
        #expect(server.requests.count == 1)
    }

    @Test func `A folder is served by name, with the type of the extension`() async throws {
        let folder = try TemporaryFolder()
        try folder.write("meow", to: "cat.mp3")
        try server.serve(folder: folder.url)
        let file = try await bench.fetch(server.url("/cat.mp3?v=2"))
        #expect(file.declaredMIMEType == "audio/mpeg")
        #expect(file.bytes == 4)
    }

    @Test func `Two downloads into two files do not mix`() async throws {
        let (one, other) = (patterned(300_000), Data(patterned(200_000).reversed()))
        server.serve("/one", .body(one))
        server.serve("/other", .body(other))
        let second = try DownloadBench()
        async let first = bench.fetch(server.url("/one"))
        async let last = second.fetch(server.url("/other"))
        _ = try await (first, last)
        #expect(try bench.content == one)
        #expect(try second.content == other)
    }

    @Test func `Where the descriptor stands does not matter, and is not changed`() async throws {
        server.serve("/cat", .body(patterned(10_000)))
        lseek(bench.descriptor, 77, SEEK_SET)
        try await bench.fetch(server.url("/cat"))
        #expect(try bench.content == patterned(10_000))
        #expect(lseek(bench.descriptor, 0, SEEK_CUR) == 77)
    }

    @Test func `What stood in the file before is gone`() async throws {
        server.serve("/cat", .body(patterned(10)))
        try patterned(1_000).write(to: bench.folder.url.appending(path: "body"))
        try await bench.fetch(server.url("/cat"))
        #expect(try bench.content == patterned(10))
    }

    @Test func `Connections are used again`() async throws {
        server.serve("/cat", .body(patterned(10_000)))
        for _ in 0..<3 { try await bench.fetch(server.url("/cat")) }
        #expect(server.requests.count == 3)
        #expect(server.connectionCount == 1)
    }

    @Test func `Shutting down closes the connections and refuses further downloads`() async throws {
        server.serve("/cat", .body(patterned(10)))
        try await bench.fetch(server.url("/cat"))
        await bench.downloader.shutdown()
        await server.until { $0.openConnectionCount == 0 }
        #expect(try await bench.failure(of: server.url("/cat")).code == .cancelled)
    }
}
