import Crypto
import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep

@Suite(.timeLimit(.minutes(1))) struct DownloadRetryTests {
    let server: LoopbackServer
    let bench: DownloadBench
    let body = patterned(200_000)

    init() throws {
        server = try LoopbackServer()
        bench = try DownloadBench()
    }

    private func expectWhole(_ file: DownloadedFile, _ body: Data, attempts: Int) throws {
        #expect(try bench.content == body)
        #expect(file.bytes == body.count)
        #expect(file.sha256 == SHA256.hash(data: body).map { String(format: "%02x", $0) }.joined())
        #expect(file.attempts == attempts)
    }

    // MARK: Statuses

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
    func `A transient status is retried`(status: Int) async throws {
        server.serve("/cat", inTurn: [.status(status), .body(body)])
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 2)
    }

    @Test func `Attempts are limited, and the last status is reported`() async throws {
        server.serve("/cat", .status(503))
        let error = try await bench.failure(of: server.url("/cat"))
        #expect(error.code == .downloadHTTPStatus)
        #expect(error.isRetryable)
        #expect(error.message.contains("503"))
        #expect(server.requests.count == Limits.downloadAttemptsMax)
    }

    @Test(arguments: [404, 410])
    func `A missing file is not requested again`(status: Int) async throws {
        server.serve("/cat", .status(status, [:], Data("gone".utf8)))
        #expect(try await bench.failure(of: server.url("/cat")).code == .sourceNotFound)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [400, 401, 403, 418])
    func `A client error is not retried`(status: Int) async throws {
        server.serve("/cat", .status(status))
        let error = try await bench.failure(of: server.url("/cat"))
        #expect(error.code == .downloadHTTPStatus)
        #expect(!error.isRetryable)
        #expect(server.requests.count == 1)
    }

    @Test func `Retry-After is honored`() async throws {
        server.serve("/cat", inTurn: [.status(503, ["Retry-After": "1"]), .body(body)])
        let started = ContinuousClock.now
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 2)
        #expect(started.duration(to: .now) >= .seconds(1))
    }

    @Test func `A Retry-After beyond the deadline is not waited for`() async throws {
        server.serve("/cat", .status(429, ["Retry-After": "3600"]))
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadHTTPStatus)
        #expect(server.requests.count == 1)
    }

    @Test func `The body of an error response never reaches the file`() async throws {
        server.serve("/cat", .status(500, [:], Data(count: 10_000)))
        _ = try await bench.failure(of: server.url("/cat"))
        #expect(try bench.content.isEmpty)
        #expect(bench.prefixChecks.isEmpty)
    }

    @Test func `An endless error body is cut off`() async throws {
        server.serve("/cat", .head(404).then(.sendForever(Data(count: 10_000))))
        #expect(try await bench.failure(of: server.url("/cat")).code == .sourceNotFound)
    }

    // MARK: Connections

    @Test func `A refused connection has its own error`() async throws {
        let port = try LoopbackServer().port
        #expect(try await bench.failure(of: "http://127.0.0.1:\(port)/cat").code == .downloadConnect)
    }

    @Test func `A reset before the response is retried`() async throws {
        server.serve("/cat", inTurn: [LoopbackResponse([.reset]), .body(body)])
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 2)
    }

    @Test func `A server that always hangs up is a failed connection`() async throws {
        server.serve("/cat", LoopbackResponse([.close]))
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadConnect)
    }

    @Test func `A server that does not speak HTTP has its own error`() async throws {
        server.serve("/cat", .raw("SSH-2.0-OpenSSH_9.2\r\n\r\n").then(.close))
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadHTTPStatus)
    }

    // MARK: Resuming

    @Test(arguments: [LoopbackResponse.Step.reset, .close])
    func `An interrupted body is resumed where it broke off`(end: LoopbackResponse.Step) async throws {
        server.serve("/cat") { [body, bench] request in
            request.number == 1
                ? .start(of: body, bytes: 70_000, ["ETag": "\"1\""]).then(.wait(bench.isAt(70_000)), end)
                : .ranged(body, etag: "\"1\"", for: request)
        }
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 2)
        #expect(server.requests.map(\.rangeStart) == [nil, 70_000])
        #expect(server.requests.last?.headers["if-range"] == "\"1\"")
        #expect(bench.prefixChecks.count == 1)
    }

    @Test func `A file without a strong ETag is resumed by its date`() async throws {
        let date = "Sat, 21 Nov 2026 12:00:00 GMT"
        server.serve("/cat") { [body, bench] request in
            let fields = ["ETag": "W/\"1\"", "Last-Modified": date]
            return request.number == 1
                ? .start(of: body, bytes: 70_000, fields).then(.wait(bench.isAt(70_000)), .close)
                : .ranged(body, etag: date, for: request)
        }
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 2)
        #expect(server.requests.last?.headers["if-range"] == date)
    }

    @Test func `A server that ignores ranges sends the file from the start`() async throws {
        server.serve("/cat") { [body, bench] request in
            request.number == 1
                ? .start(of: body, bytes: 70_000, ["ETag": "\"1\""]).then(.wait(bench.isAt(70_000)), .close)
                : .body(body)
        }
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 2)
        #expect(bench.prefixChecks.count == 2)
    }

    @Test func `A file that changed between two attempts is downloaded and checked again`() async throws {
        let changed = Data(body.reversed().dropLast(1_000))
        server.serve("/cat") { [body, bench] request in
            request.number == 1
                ? .start(of: body, bytes: 70_000, ["ETag": "\"1\""]).then(.wait(bench.isAt(70_000)), .close)
                : .ranged(changed, etag: "\"2\"", for: request)
        }
        try expectWhole(try await bench.fetch(server.url("/cat")), changed, attempts: 2)
        #expect(bench.prefixChecks.count == 2)
    }

    @Test(arguments: [
        "bytes 0-129999/200000", "bytes 70000-199999/200001", "bytes 69999-199998/200000", "nonsense",
    ])
    func `A range that does not match is not appended`(range: String) async throws {
        server.serve("/cat") { [body, bench] request in
            switch request.number {
            case 1: .start(of: body, bytes: 70_000, ["ETag": "\"1\""]).then(.wait(bench.isAt(70_000)), .close)
            case 2: .status(206, ["Content-Range": range], body.dropFirst(70_000))
            default: .ranged(body, etag: "\"1\"", for: request)
            }
        }
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 3)
        #expect(server.requests.map(\.rangeStart) == [nil, 70_000, nil])
    }

    @Test func `An unsatisfiable range restarts the download`() async throws {
        server.serve("/cat") { [body, bench] request in
            switch request.number {
            case 1: .start(of: body, bytes: 70_000, ["ETag": "\"1\""]).then(.wait(bench.isAt(70_000)), .close)
            case 2: .status(416)
            default: .body(body)
            }
        }
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 3)
    }

    @Test func `Without a validator the file is sent from the start`() async throws {
        server.serve("/cat", inTurn: [.start(of: body, bytes: 70_000).then(.close), .body(body)])
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 2)
        #expect(server.requests.map(\.rangeStart) == [nil, nil])
    }

    @Test func `A body that always ends early is truncated`() async throws {
        server.serve("/cat", .start(of: body, bytes: 70_000).then(.close))
        let error = try await bench.failure(of: server.url("/cat"))
        #expect(error.code == .downloadTruncated)
        #expect(error.message.contains("200,000"))
    }

    @Test func `A chunked body without its end is truncated`() async throws {
        let chunk = LoopbackResponse.chunk(patterned(5_000))
        server.serve("/cat", .head(200, ["Transfer-Encoding": "chunked"]).then(.send(chunk), .close))
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadTruncated)
    }

    // MARK: Encodings

    @Test func `An unrequested content encoding is decoded`() async throws {
        server.serve("/cat", .body(LoopbackGzip.stored(body), headers: ["Content-Encoding": "gzip"]))
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 1)
    }

    @Test func `An encoded body is never resumed`() async throws {
        let packed = LoopbackGzip.stored(body)
        let fields = ["ETag": "\"1\"", "Content-Encoding": "gzip"]
        server.serve(
            "/cat", inTurn: [.start(of: packed, bytes: 70_000, fields).then(.close), .body(packed, headers: fields)])
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 2)
        #expect(server.requests.map(\.rangeStart) == [nil, nil])
    }

    @Test(arguments: ["gzip", "x-gzip", "deflate"])
    func `A body that only claims to be encoded is kept as sent`(encoding: String) async throws {
        server.serve("/cat", .body(body, headers: ["Content-Encoding": encoding]))
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 2)
    }

    @Test(arguments: ["aws-chunked,gzip", "aws-chunked, gzip", "gzip, AWS-chunked", "identity, gzip"])
    func `Codings that compress nothing are ignored beside one that does`(coding: String) async throws {
        server.serve("/cat", .body(LoopbackGzip.stored(body), headers: ["Content-Encoding": coding]))
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 1)
    }

    @Test func `A body that was stored with the coding aws-chunked is resumed`() async throws {
        let fields = ["ETag": "\"1\"", "Content-Encoding": "aws-chunked"]
        server.serve(
            "/cat",
            inTurn: [
                .start(of: body, bytes: 70_000, fields).then(.close),
                .body(body, headers: fields),
            ])
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 2)
        #expect(server.requests.last?.rangeStart != nil)
    }

    @Test(arguments: ["aws-chunked", "utf-8", "binary", "identity", ""])
    func `An encoding that compresses nothing is ignored`(encoding: String) async throws {
        server.serve("/cat", .body(body, headers: ["Content-Encoding": encoding]))
        try expectWhole(try await bench.fetch(server.url("/cat")), body, attempts: 1)
    }
}

extension DownloadBench {
    /// Opens when this many bytes are in the file: a reset may discard what the client has not read yet.
    func isAt(_ bytes: Int) -> LoopbackGate {
        LoopbackGate(when: { [weak self] in ((try? self?.content.count) ?? bytes) >= bytes })
    }
}
