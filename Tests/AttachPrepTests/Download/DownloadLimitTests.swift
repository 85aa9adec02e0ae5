import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

@Suite(.timeLimit(.minutes(1))) struct DownloadLimitTests {
    let server: LoopbackServer
    let bench: DownloadBench

    init() throws {
        server = try LoopbackServer()
        bench = try DownloadBench()
    }

    // MARK: Size

    @Test func `A declared length over the limit ends the download before its body`() async throws {
        server.serve("/big", .start(of: patterned(10), bytes: 10, declaring: 1_001).then(.hang))
        let error = try await bench.failure(of: server.url("/big"), bytesMax: 1_000)
        #expect(error.code == .downloadTooLarge)
        #expect(try bench.content.isEmpty)
    }

    @Test func `A body of exactly the limit is accepted`() async throws {
        server.serve("/cat", .body(patterned(1_000)))
        #expect(try await bench.fetch(server.url("/cat"), bytesMax: 1_000).bytes == 1_000)
    }

    @Test func `An endless chunked body ends at the limit`() async throws {
        let chunk = LoopbackResponse.chunk(patterned(8_192))
        server.serve("/endless", .head(200, ["Transfer-Encoding": "chunked"]).then(.sendForever(chunk)))
        #expect(try await bench.failure(of: server.url("/endless"), bytesMax: 100_000).code == .downloadTooLarge)
        #expect(try bench.content.count <= 100_000)
    }

    @Test func `An endless body without a length ends at the limit`() async throws {
        server.serve("/endless", .head(200).then(.sendForever(patterned(8_192))))
        #expect(try await bench.failure(of: server.url("/endless"), bytesMax: 100_000).code == .downloadTooLarge)
    }

    @Test func `A gzip bomb ends at the limit of decoded bytes`() async throws {
        let bomb = LoopbackGzip.bomb(unpackedBytes: 50_000_000)
        #expect(bomb.count < 400_000)
        server.serve("/bomb", .body(bomb, headers: ["Content-Encoding": "gzip"]))
        #expect(try await bench.failure(of: server.url("/bomb"), bytesMax: 1_000_000).code == .downloadTooLarge)
        #expect(try bench.content.count <= 1_000_000)
    }

    @Test func `Bytes beyond the declared length are dropped`() async throws {
        server.serve("/long", .start(of: patterned(500), bytes: 500, declaring: 100).then(.close))
        #expect(try await bench.fetch(server.url("/long")).bytes == 100)
        #expect(try bench.content == patterned(500).prefix(100))
    }

    @Test func `A header bomb is cut off`() async throws {
        let line = Data("X-Bomb: \(String(repeating: "a", count: 1_000))\r\n".utf8)
        server.serve("/bomb", .raw("HTTP/1.1 200 OK\r\n").then(.sendForever(line)))
        let error = try await bench.failure(of: server.url("/bomb"))
        #expect(error.code == .downloadTooLarge && error.message.contains("the longest in X-Bomb;"), "\(error.message)")
    }

    @Test(arguments: ["HTTP/1.1 103 Early Hints\r\nX-Bomb: a\r\n\r\n", "HTTP/1.1 200 OK\r\nX-Bomb: "])
    func `Endless informational responses and an endless header line are cut off`(start: String) async throws {
        let more = start.hasSuffix("\r\n") ? start : String(repeating: "a", count: 5_000)
        server.serve("/bomb", .raw(start).then(.sendForever(Data(more.utf8))))
        let error = try await bench.failure(of: server.url("/bomb"))
        #expect(error.code == .downloadTooLarge, "\(error)")
    }

    @Test func `A Content-Length beside a chunked body is ignored`() async throws {
        let chunks = LoopbackResponse.chunk(patterned(5_000)) + LoopbackResponse.chunk(Data())
        let fields = ["Transfer-Encoding": "chunked", "Content-Length": "9999999999"]
        server.serve("/cat", .head(200, fields).then(.send(chunks)))
        #expect(try await bench.fetch(server.url("/cat")).bytes == 5_000)
    }

    // MARK: The caller's verdict

    @Test func `A verdict lowers the limit for the rest of the body`() async throws {
        let limit = AttachPrepError(.limitExceeded, "The image is over a test's limit.")
        let chunk = LoopbackResponse.chunk(patterned(8_192))
        server.serve("/endless", .head(200, ["Transfer-Encoding": "chunked"]).then(.sendForever(chunk)))
        let error = try await bench.failure(
            of: server.url("/endless"), verdict: .accepted(bytesMax: 50_000, tooLarge: limit))
        #expect(error == limit)
    }

    @Test func `A verdict below the declared length ends the download at once`() async throws {
        let limit = AttachPrepError(.limitExceeded, "The image is over a test's limit.")
        server.serve("/big", .start(of: patterned(5_000), bytes: 5_000, declaring: 60_000).then(.hang))
        let error = try await bench.failure(
            of: server.url("/big"), verdict: .accepted(bytesMax: 50_000, tooLarge: limit))
        #expect(error == limit)
    }

    @Test func `The prefix is checked early, again if undecided, and at the end`() async throws {
        let gate = LoopbackGate()
        let body = patterned(Limits.identifyBytesLast * 2)
        let first = LoopbackResponse.start(of: body, bytes: Limits.identifyBytesFirst)
        let middle = body.dropFirst(Limits.identifyBytesFirst).prefix(Limits.identifyBytesLast)
        let rest = body.dropFirst(Limits.identifyBytesFirst + Limits.identifyBytesLast)
        let second = LoopbackGate()
        server.serve("/cat", first.then(.wait(gate), .send(middle), .wait(second), .send(rest)))
        try await bench.fetch(server.url("/cat")) { bytes, _ in
            (bytes < Limits.identifyBytesLast ? gate : second).open()
            return .undecided
        }
        let prefixChecks = bench.prefixChecks
        #expect(prefixChecks.map(\.isComplete) == [false, false, true])
        #expect(prefixChecks[0].bytes == Limits.identifyBytesFirst)
        #expect(prefixChecks[1].bytes == Limits.identifyBytesFirst + Limits.identifyBytesLast)
        #expect(prefixChecks[2].bytes == body.count)
    }

    @Test func `The body is paused during the prefix check`() async throws {
        let body = patterned(4_000_000)
        let sent = LoopbackGate()
        server.serve(
            "/page", LoopbackResponse.start(of: body, bytes: 400_000).then(.open(sent), .send(body.dropFirst(400_000))))
        let error = AttachPrepError(.mediaUnrecognized, "The source is a test's page.")
        let thrown = await #expect(throws: AttachPrepError.self) {
            try await bench.fetch(server.url("/page")) { _, _ in
                // By now the server has sent more than is wanted, and the kernel buffers it.
                await sent.waitUntilOpen()
                throw error
            }
        }
        #expect(thrown == error)
        #expect(bench.downloader.receivedBytes <= Limits.identifyBytesFirst + 65_536)
    }

    @Test func `The body resumes after the prefix check`() async throws {
        let body = patterned(3_000_000)
        let sent = LoopbackGate()
        server.serve(
            "/cat", LoopbackResponse.start(of: body, bytes: 400_000).then(.open(sent), .send(body.dropFirst(400_000))))
        let file = try await bench.fetch(server.url("/cat")) { _, _ in
            await sent.waitUntilOpen()
            return .anything
        }
        #expect(file.bytes == body.count)
        #expect(try bench.content == body)
    }

    @Test func `A body smaller than the first check is checked when it is complete`() async throws {
        server.serve("/cat", .body(patterned(100)))
        try await bench.fetch(server.url("/cat"))
        #expect(bench.prefixChecks.map(\.bytes) == [100])
        #expect(bench.prefixChecks.map(\.isComplete) == [true])
    }

    @Test func `After a decision the prefix is not checked again`() async throws {
        server.serve("/cat", .body(patterned(500_000)))
        try await bench.fetch(server.url("/cat"))
        #expect(bench.prefixChecks.count == 1)
        #expect(bench.prefixChecks.first?.isComplete == false)
    }

    @Test func `The checked bytes are in the file`() async throws {
        server.serve("/cat", .body(patterned(500_000)))
        try await bench.fetch(server.url("/cat")) { [bench] bytes, _ in
            let prefix = try bench.content.prefix(bytes)
            #expect(prefix == patterned(bytes))
            return .anything
        }
    }

    @Test func `The caller's own error ends the transfer and is rethrown`() async throws {
        struct NotMediaError: Error, Equatable {}
        let start = LoopbackResponse.start(of: patterned(5_000), bytes: 5_000, declaring: 60_000)
        server.serve("/page", start.then(.hang))
        await #expect(throws: NotMediaError()) {
            try await bench.fetch(server.url("/page")) { _, _ in throw NotMediaError() }
        }
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `An unidentified body is cut off`() async throws {
        server.serve("/noise", .head(200).then(.sendForever(Data(count: 1 << 20))))
        let error = try await bench.failure(of: server.url("/noise"), verdict: .undecided)
        #expect(error.code == .mediaUnrecognized)
        #expect(try bench.content.count < Limits.unidentifiedBytesMax * 2)
    }

    // MARK: Time

    @Test func `Silence before the first byte is a timeout`() async throws {
        let bench = try DownloadBench(timeouts: .prompt(firstByte: .milliseconds(50)))
        server.serve("/slow", LoopbackResponse([.hang]))
        #expect(try await bench.failure(of: server.url("/slow")).code == .downloadTimeout)
        #expect(server.requests.count == Limits.downloadAttemptsMax)
    }

    @Test func `Silence in the body is a timeout`() async throws {
        let bench = try DownloadBench(timeouts: .prompt(stall: .milliseconds(50)))
        server.serve("/stall", .start(of: patterned(5_000), bytes: 100).then(.hang))
        #expect(try await bench.failure(of: server.url("/stall")).code == .downloadTimeout)
    }

    @Test func `The deadline ends the download, retries included`() async throws {
        server.serve("/slow", LoopbackResponse([.hang]))
        let error = try await bench.failure(of: server.url("/slow"), within: .milliseconds(100))
        #expect(error.code == .deadlineExceeded)
        #expect(server.requests.count <= 1)
    }

    @Test func `A slow endless body ends at the deadline`() async throws {
        server.serve("/drip", .head(200).then(.sendForever(Data([0]))))
        let error = try await bench.failure(of: server.url("/drip"), within: .milliseconds(200))
        #expect(error.code == .deadlineExceeded)
    }

    @Test func `After the deadline nothing is sent`() async throws {
        #expect(try await bench.failure(of: server.url("/cat"), within: .zero).code == .deadlineExceeded)
        #expect(server.connectionCount == 0)
    }

    @Test func `A cancelled task ends its transfer`() async throws {
        server.serve("/slow", LoopbackResponse([.hang]))
        let (url, bench) = (server.url("/slow"), bench)
        let fetching = Task { try await bench.fetch(url) }
        await server.until { $0.requests.count == 1 }
        fetching.cancel()
        let error = await #expect(throws: AttachPrepError.self) { try await fetching.value }
        #expect(error?.code == .cancelled)
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `Downloads over the concurrency limit wait for a slot, until their deadline`() async throws {
        let bench = try DownloadBench(inFlightMax: 1)
        let other = try DownloadBench()
        let gate = LoopbackGate()
        server.serve("/slow", LoopbackResponse([.wait(gate)] + LoopbackResponse.body(patterned(10)).steps))
        server.serve("/cat", .body(patterned(10)))
        let slow = server.url("/slow")
        let first = Task { try await bench.fetch(slow) }
        await server.until { $0.requests.count == 1 }
        let error = try await bench.failure(of: server.url("/cat"), within: .milliseconds(50))
        #expect(error.code == .deadlineExceeded)
        try await other.fetch(server.url("/cat"))
        gate.open()
        _ = try await first.value
        try await bench.fetch(server.url("/cat"))
        #expect(server.requests(to: "/cat").count == 2)
    }

    // MARK: Disk

    @Test func `A full disk has its own error`() throws {
        // /dev/full cannot be truncated first, so it is written to directly.
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        let body = BodyFile(descriptor: full, bytesMax: 1_000)
        let error = #expect(throws: AttachPrepError.self) {
            try Data("meow".utf8).withUnsafeBytes { try body.append($0) }
        }
        #expect(error?.code == .outputNoSpace)
        #expect(body.bytes == 0)
    }

    @Test func `A file that cannot be written to ends the transfer`() async throws {
        server.serve("/cat", .body(patterned(10)))
        let readOnly = open("/dev/null", O_RDONLY)
        defer { close(readOnly) }
        let request = DownloadRequest(url: server.url("/cat"), deadline: .now + .seconds(60))
        let error = await #expect(throws: AttachPrepError.self) {
            try await bench.downloader.download(request, into: readOnly) { _, _ in .anything }
        }
        #expect(error?.code == .outputNotWritable)
    }
}
