import Crypto
import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep

@Suite(.timeLimit(.minutes(1))) struct DownloaderTests {
    let server: LoopbackServer
    let bench: DownloadBench

    init() throws {
        server = try LoopbackServer()
        bench = try DownloadBench()
    }

    @Test func `A body is received byte for byte, with its digest and declared type`() async throws {
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

    @Test func `The request has our user agent, accepts every type and asks for no encoding`() async throws {
        server.serve("/cat", .body(patterned(10)))
        try await bench.fetch(server.url("/cat"))
        let headers = try #require(server.requests.first).headers
        #expect(headers["user-agent"]?.hasPrefix("attachprep/") == true)
        #expect(headers["accept"] == "*/*")
        #expect(headers["accept-encoding"] == "identity")
    }

    @Test(arguments: [LoopbackResponse.status(204), .status(200)])
    func `An empty response is an empty file, and its prefix is checked`(response: LoopbackResponse) async throws {
        server.serve("/empty", response)
        let file = try await bench.fetch(server.url("/empty"))
        #expect(file.bytes == 0)
        #expect(bench.prefixChecks.map(\.bytes) == [0])
        #expect(bench.prefixChecks.map(\.isComplete) == [true])
    }

    @Test func `Spaces, non-ASCII characters and a fragment are normalized in the request`() async throws {
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

    @Test func `Two concurrent downloads into two files do not mix`() async throws {
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

    @Test func `The descriptor's offset is neither used nor changed`() async throws {
        server.serve("/cat", .body(patterned(10_000)))
        lseek(bench.descriptor, 77, SEEK_SET)
        try await bench.fetch(server.url("/cat"))
        #expect(try bench.content == patterned(10_000))
        #expect(lseek(bench.descriptor, 0, SEEK_CUR) == 77)
    }

    @Test func `Earlier content of the file is removed`() async throws {
        server.serve("/cat", .body(patterned(10)))
        try patterned(1_000).write(to: bench.folder.url.appending(path: "body"))
        try await bench.fetch(server.url("/cat"))
        #expect(try bench.content == patterned(10))
    }

    @Test func `Connections are reused`() async throws {
        server.serve("/cat", .body(patterned(10_000)))
        for _ in 0..<3 { try await bench.fetch(server.url("/cat")) }
        #expect(server.requests.count == 3)
        #expect(server.connectionCount == 1)
    }

    @Test func `Shutting down closes the connections and rejects further downloads`() async throws {
        server.serve("/cat", .body(patterned(10)))
        try await bench.fetch(server.url("/cat"))
        await bench.downloader.shutdown()
        await server.until { $0.openConnectionCount == 0 }
        #expect(try await bench.failure(of: server.url("/cat")).code == .cancelled)
    }

    @Test func `Many concurrent downloads, some cancelled, leak neither connections nor slots`() async throws {
        let server = try LoopbackServer()
        let bench = try DownloadBench(inFlightMax: 4)
        server.serve("/cat", .body(patterned(50_000)))
        server.serve("/slow", LoopbackResponse([.hang]))
        server.serve("/broken", .start(of: patterned(50_000), bytes: 20_000).then(.reset))
        let paths = ["/cat", "/slow", "/broken", "/cat"]
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<120 {
                group.addTask {
                    let fetch = Task {
                        let file = try ScratchFile()
                        let url = server.url(paths[number % paths.count])
                        return try await bench.downloader.download(
                            DownloadRequest(url: url, deadline: .now + .seconds(30)), into: file.descriptor
                        ) { _, _ in .anything }
                    }
                    if number % 4 == 1 || number % 5 == 0 {
                        if number % 3 > 0 { await server.until { $0.requests.count > number / 8 } }
                        fetch.cancel()
                    }
                    _ = await fetch.result
                }
            }
        }
        // All slots are free again: as many downloads run concurrently as there are slots.
        let gate = LoopbackGate()
        server.serve("/gate", LoopbackResponse([.wait(gate)] + LoopbackResponse.body(patterned(10)).steps))
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let file = try ScratchFile()
                    let request = DownloadRequest(url: server.url("/gate"), deadline: .now + .seconds(30))
                    return try await bench.downloader.download(request, into: file.descriptor) { _, _ in .anything }
                        .bytes
                }
            }
            await server.until { $0.requests(to: "/gate").count == 4 }
            gate.open()
            for try await bytes in group { #expect(bytes == 10) }
        }
        await bench.downloader.shutdown()
        await server.until { $0.openConnectionCount == 0 }
    }
}

/// An unlinked temporary file.
private final class ScratchFile: Sendable {
    let descriptor: CInt

    init() throws {
        var name = Array("/tmp/attachprep-test-XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        try #require(descriptor >= 0)
        unlink(name)
    }

    deinit {
        close(descriptor)
    }
}
