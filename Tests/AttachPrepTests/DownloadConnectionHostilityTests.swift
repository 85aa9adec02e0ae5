import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

/// Connections that break at any stage, that say too much, and that remember.
@Suite(.timeLimit(.minutes(1))) struct DownloadConnectionHostilityTests {
    let server: LoopbackServer
    let bench: DownloadBench

    init() throws {
        server = try LoopbackServer()
        bench = try DownloadBench()
    }

    private static var meow: Data { Data("meow".utf8) }
    private static var fake: Data { Data("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake".utf8) }

    // MARK: Breaks

    @Test(arguments: [
        HostileAnswer("reset before the answer", .downloadConnect, LoopbackAnswer([.reset])),
        HostileAnswer("reset in the status line", .downloadConnect, .raw("HTTP/1.1 2").then(.reset)),
        HostileAnswer("reset in the fields", .downloadConnect, .raw("HTTP/1.1 200 OK\r\nX: ").then(.reset)),
        HostileAnswer("closed in the status line", .downloadConnect, .raw("HTTP/1.1 2").then(.close)),
        HostileAnswer("closed in the fields", .downloadConnect, .raw("HTTP/1.1 200 OK\r\nX: a\r\n").then(.close)),
        HostileAnswer("reset behind the head", .downloadTruncated, .lines("Content-Length: 4").then(.reset)),
        HostileAnswer("closed behind the head", .downloadTruncated, .lines("Content-Length: 4").then(.close)),
        HostileAnswer(
            "closed in the chunks", .downloadTruncated,
            .lines("Transfer-Encoding: chunked").then(.send(Data("4\r\nme".utf8)), .close)),
        HostileAnswer(
            "closed before the last chunk's end", .downloadTruncated,
            .lines("Transfer-Encoding: chunked").then(.send(Data("4\r\nmeow\r\n0\r\n".utf8)), .close)),
        HostileAnswer("one byte short", .downloadTruncated, .lines("Content-Length: 5").then(.send(meow), .close)),
    ])
    func `A connection that breaks is tried again, and told`(row: HostileAnswer) async throws {
        let error = try await failure(row)
        #expect(error.isRetryable)
    }

    private func failure(_ row: HostileAnswer) async throws -> AttachPrepError {
        server.serve("/cat", row.answer)
        let error = try await bench.failure(of: server.url("/cat"))
        #expect(error.code == row.code || row.answer.resets && error.code == .downloadConnect, "\(error)")
        #expect(server.requests.count == Limits.downloadAttemptsMax)
        return error
    }

    @Test func `A server that takes every connection and never says a word is a timeout`() async throws {
        server.greet(LoopbackAnswer([.hang]))
        let bench = try DownloadBench(timeouts: .prompt(firstByte: .milliseconds(50)))
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadTimeout)
        await bench.downloader.shutdown()
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `An answer before the question is an answer, and the connection is not used again`() async throws {
        server.greet(LoopbackAnswer([.send(Self.fake + Self.fake), .hang]))
        for _ in 0..<2 { #expect(try await bench.fetch(server.url("/one")).bytes == 4) }
        #expect(server.connectionCount == 2)
    }

    // MARK: Connections that are used again

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", "meow"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "4\r\nmeow\r\n0\r\n\r\n"),
            ("HTTP/1.1 204 None\r\n\r\n", ""), ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "meow"),
            ("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", ""),
            ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n\r\n"),
        ], [true, false])
    func `Bytes behind an answer are not the next answer`(
        answer: (head: String, body: String), inOnePiece: Bool
    ) async throws {
        let sent = LoopbackGate()
        let (head, rest) = (Data(answer.head.utf8), Data(answer.body.utf8) + Self.fake)
        let pieces = inOnePiece ? [LoopbackAnswer.Step.send(head + rest)] : [.send(head), .send(rest)]
        server.serve("/cat", LoopbackAnswer(pieces + [.open(sent)]))
        server.serve("/next", .body(Self.meow))
        _ = await Result { try await bench.fetch(server.url("/cat")) }
        #expect(try bench.content != Data("fake".utf8))
        await sent.untilOpen()
        // The first answer's connection is closed, or what came with it is forgotten.
        try await bench.fetch(server.url("/next"))
        #expect(try bench.content == Self.meow)
    }

    @Test(arguments: ["302 Found\r\nLocation: /next", "503 Busy"])
    func `Bytes behind an answer that has another one follow are not that one`(head: String) async throws {
        let spoiled = LoopbackAnswer.raw("HTTP/1.1 \(head)\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\nfake")
        server.serve("/cat", inTurn: [spoiled, .body(Self.meow)])
        server.serve("/next", .body(Self.meow))
        try await bench.fetch(server.url("/cat"))
        #expect(try bench.content == Self.meow)
    }

    @Test func `Bytes that come while nobody asks are not the next answer`() async throws {
        let gate = LoopbackGate()
        let sent = LoopbackGate()
        server.serve("/cat", .body(Self.meow).then(.wait(gate), .send(Self.fake), .open(sent), .hang))
        server.serve("/next", .body(Self.meow))
        try await bench.fetch(server.url("/cat"))
        gate.open()
        await sent.untilOpen()
        try await bench.fetch(server.url("/next"))
        #expect(try bench.content == Self.meow)
        #expect(server.connectionCount == 2)
    }

    // MARK: Storms

    @Test(arguments: ["9223372036854775807", "2147483648", "3600", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func `A wait beyond the deadline is not begun`(value: String) async throws {
        server.serve("/cat", .status(503, ["Retry-After": value]))
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadHTTPStatus)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        "-1", "99999999999999999999", "-99999999999999999999", "0", "soon", "", "Thu, 01 Jan 1970 00:00:00 GMT",
        "0x7fffffff",
    ])
    func `A wait that is none is our own`(value: String) async throws {
        server.serve("/cat", .status(429, ["Retry-After": value]))
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadHTTPStatus)
        #expect(server.requests.count == Limits.downloadAttemptsMax)
    }

    @Test func `A storm of refusals costs each download its tries and no more`() async throws {
        server.serve("/cat", .status(429))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let other = try? DownloadBench()
                    _ = await Result { try await other?.fetch(server.url("/cat")) }
                }
            }
        }
        #expect(server.requests.count == 20 * Limits.downloadAttemptsMax)
    }

    // MARK: Memory

    @Test func `Cookies are not kept`() async throws {
        server.serve(
            "/cat",
            inTurn: [
                .status(302, ["Set-Cookie": "a=b; Path=/", "Location": "/cat"]),
                .body(Self.meow, headers: ["Set-Cookie": "c=d"]),
            ])
        try await bench.fetch(server.url("/cat"))
        try await bench.fetch(server.url("/cat"))
        #expect(server.requests.count == 3)
        #expect(server.requests.allSatisfy { $0.headers["cookie"] == nil })
    }

    @Test func `A server cannot send later requests elsewhere`() async throws {
        let other = try LoopbackServer()
        server.serve(
            "/cat",
            .body(
                Self.meow,
                headers: [
                    "Alt-Svc": "http/1.1=\":\(other.port)\", h2c=\":\(other.port)\"",
                    "Strict-Transport-Security": "max-age=9",
                    "Upgrade": "h2c",
                ]))
        for _ in 0..<2 { try await bench.fetch(server.url("/cat")) }
        #expect(other.connectionCount == 0)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [
        "Basic realm=\"a\"", "Digest realm=\"a\", nonce=\"b\", algorithm=MD5", "NTLM", "Negotiate",
        "Bearer realm=\"a\"",
    ])
    func `A challenge is not answered`(challenge: String) async throws {
        server.serve("/cat", .status(401, ["WWW-Authenticate": challenge]))
        server.serve("/proxy", .status(407, ["Proxy-Authenticate": challenge]))
        for path in ["/cat", "/proxy"] {
            let error = try await bench.failure(of: server.url(path))
            #expect(error.code == .downloadHTTPStatus)
            #expect(!error.isRetryable)
        }
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0.headers["authorization"] == nil })
        #expect(server.requests.allSatisfy { $0.headers["proxy-authorization"] == nil })
    }

    @Test func `A challenge after a redirect gets no user info of the first origin`() async throws {
        let other = try LoopbackServer()
        other.serve("/cat", .status(401, ["WWW-Authenticate": "Basic realm=\"a\""]))
        server.serve("/go", .redirect(other.url("/cat")))
        let url = server.url("/go").replacing("http://", with: "http://me:secret@")
        #expect(try await bench.failure(of: url).code == .downloadHTTPStatus)
        #expect(other.requests.map { $0.headers["authorization"] } == [nil])
    }
}

extension LoopbackAnswer {
    /// Whether it ends in a reset, which may overtake what was sent before it.
    fileprivate var resets: Bool {
        if case .reset = steps.last { true } else { false }
    }
}
