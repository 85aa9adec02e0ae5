import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// Connections that break, are never used, ask for retries, or try to store state in the client.
@Suite(.timeLimit(.minutes(1))) struct HostileConnectionTests {
    let server: LoopbackServer
    let bench: DownloadBench

    init() throws {
        server = try LoopbackServer()
        bench = try DownloadBench()
    }

    private static var meow: Data { Data("meow".utf8) }
    private static var fake: Data { Data("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake".utf8) }

    // MARK: Broken connections

    @Test(arguments: [
        HostileResponse("reset before the response", .downloadConnect, LoopbackResponse([.reset])),
        HostileResponse("reset in the status line", .downloadConnect, .raw("HTTP/1.1 2").then(.reset)),
        HostileResponse("reset in the fields", .downloadConnect, .raw("HTTP/1.1 200 OK\r\nX: ").then(.reset)),
        HostileResponse("closed in the status line", .downloadConnect, .raw("HTTP/1.1 2").then(.close)),
        HostileResponse("closed in the fields", .downloadConnect, .raw("HTTP/1.1 200 OK\r\nX: a\r\n").then(.close)),
        HostileResponse("reset after the head", .downloadTruncated, .lines("Content-Length: 4").then(.reset)),
        HostileResponse("closed after the head", .downloadTruncated, .lines("Content-Length: 4").then(.close)),
        HostileResponse(
            "closed in the chunks", .downloadTruncated,
            .lines("Transfer-Encoding: chunked").then(.send(Data("4\r\nme".utf8)), .close)),
        HostileResponse(
            "closed before the last chunk's end", .downloadTruncated,
            .lines("Transfer-Encoding: chunked").then(.send(Data("4\r\nmeow\r\n0\r\n".utf8)), .close)),
        HostileResponse("one byte short", .downloadTruncated, .lines("Content-Length: 5").then(.send(meow), .close)),
    ])
    func `A broken connection is retried, then reported as a retryable error`(row: HostileResponse) async throws {
        let error = try await failure(row)
        #expect(error.isRetryable)
    }

    private func failure(_ row: HostileResponse) async throws -> AttachPrepError {
        server.serve("/cat", row.response)
        let error = try await bench.failure(of: server.url("/cat"))
        #expect(error.code == row.code || row.response.resets && error.code == .downloadConnect, "\(error)")
        #expect(server.requests.count == Limits.downloadAttemptsMax)
        return error
    }

    @Test func `A server that accepts connections and never responds is a timeout`() async throws {
        server.greet(LoopbackResponse([.hang]))
        let bench = try DownloadBench(timeouts: .prompt(firstByte: .milliseconds(50)))
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadTimeout)
        await bench.downloader.shutdown()
        await server.until { $0.openConnectionCount == 0 }
    }

    @Test func `A response sent before the request is used, and its connection is not reused`() async throws {
        server.greet(LoopbackResponse([.send(Self.fake + Self.fake), .hang]))
        for _ in 0..<2 { #expect(try await bench.fetch(server.url("/one")).bytes == 4) }
        #expect(server.connectionCount == 2)
    }

    // MARK: Rate limits

    @Test(arguments: ["9223372036854775807", "2147483648", "3600", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func `A Retry-After beyond the deadline is not waited for`(value: String) async throws {
        server.serve("/cat", .status(503, ["Retry-After": value]))
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadHTTPStatus)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        "-1", "99999999999999999999", "-99999999999999999999", "0", "soon", "", "Thu, 01 Jan 1970 00:00:00 GMT",
        "0x7fffffff",
    ])
    func `An invalid Retry-After falls back to the default delay`(value: String) async throws {
        server.serve("/cat", .status(429, ["Retry-After": value]))
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadHTTPStatus)
        #expect(server.requests.count == Limits.downloadAttemptsMax)
    }

    @Test func `Concurrent 429 responses cost each download its attempts and no more`() async throws {
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

    // MARK: Stored state

    @Test func `Cookies end with their download`() async throws {
        server.serve(
            "/cat",
            inTurn: [
                .status(302, ["Set-Cookie": "a=b; Path=/", "Location": "/cat"]),
                .body(Self.meow, headers: ["Set-Cookie": "c=d"]),
            ])
        try await bench.fetch(server.url("/cat"))
        try await bench.fetch(server.url("/cat"))
        #expect(server.requests.map { $0.headers["cookie"] } == [nil, "a=b", nil])
    }

    @Test func `A server cannot redirect later requests with Alt-Svc, HSTS or Upgrade`() async throws {
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
    func `An authentication challenge is not answered`(challenge: String) async throws {
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

    @Test func `A challenge after a redirect does not get the first origin's user info`() async throws {
        let other = try LoopbackServer()
        other.serve("/cat", .status(401, ["WWW-Authenticate": "Basic realm=\"a\""]))
        server.serve("/go", .redirect(other.url("/cat")))
        let url = server.url("/go").replacing("http://", with: "http://me:secret@")
        #expect(try await bench.failure(of: url).code == .downloadHTTPStatus)
        #expect(other.requests.map { $0.headers["authorization"] } == [nil])
    }
}

extension LoopbackResponse {
    /// Whether it ends in a reset, which may overtake data sent before it.
    fileprivate var resets: Bool {
        if case .reset = steps.last { true } else { false }
    }
}
