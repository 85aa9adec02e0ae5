import AttachPrepModel
import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep

/// Heads that are endless, too large, too slow or not HTTP.
@Suite(.timeLimit(.minutes(1))) struct HostileHeaderTests {
    // MARK: Too large

    /// Created on each access: the leak sanitizer does not see bytes held only by a static table.
    static var floods: [HostileResponse] {
        [
            HostileResponse("a status line without end", .downloadTooLarge, endless("HTTP/1.1 200 ", "a")),
            HostileResponse("a field without end", .downloadTooLarge, endless("HTTP/1.1 200 OK\r\nX: ", "a")),
            HostileResponse("fields without end", .downloadTooLarge, endless("HTTP/1.1 200 OK\r\n", "X: 1\r\n")),
            HostileResponse("100,000 fields", .downloadTooLarge, .raw(Self.head(fields: 100_000))),
            HostileResponse("1,001 short fields", .downloadTooLarge, .raw(Self.head(fields: 1_001))),
            HostileResponse(
                "one field of 8 MB", .downloadTooLarge, .lines("X: " + String(repeating: "a", count: 8_000_000))),
            HostileResponse(
                "a folded field without end", .downloadTooLarge, endless("HTTP/1.1 200 OK\r\nX: 1\r\n", " a\r\n")),
            HostileResponse(
                "10,000 times 100 Continue", .downloadTooLarge, .raw(Self.interim("100 Continue", times: 10_000))),
            HostileResponse(
                "10,000 times 103 Hints", .downloadTooLarge, .raw(Self.interim("103 Early Hints", times: 10_000))),
            HostileResponse(
                "100 Continue without end", .downloadTooLarge, endless("", "HTTP/1.1 100 Continue\r\n\r\n")),
        ]
    }

    private static func endless(_ start: String, _ piece: String) -> LoopbackResponse {
        .raw(start).then(.sendForever(Data(String(repeating: piece, count: 4_096).utf8)))
    }

    private static func head(fields: Int) -> String {
        "HTTP/1.1 200 OK\r\n" + String(repeating: "X: 1\r\n", count: fields) + "\r\n"
    }

    private static func interim(_ status: String, times: Int) -> String {
        String(repeating: "HTTP/1.1 \(status)\r\n\r\n", count: times) + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    }

    @Test(arguments: floods) func `A flood of headers is cut off, and not retried`(row: HostileResponse)
        async throws
    {
        #expect(try await DownloadBench().expectFailure(row).count == 1)
    }

    @Test(arguments: [
        ("Server: x\r\nX-Trace: 1\r\nX-Long: ", "the one after X-Trace"), ("", "the first one"),
    ])
    func `A header line beyond libcurl's limit is named by the header before it`(start: String, place: String)
        async throws
    {
        let server = try LoopbackServer()
        server.serve("/cat", Self.endless(start.isEmpty ? "HTTP/1.1 200 " : "HTTP/1.1 200 OK\r\n\(start)", "a"))
        let bench = try DownloadBench()
        let error = await #expect(throws: AttachPrepError.self) { try await bench.fetch(server.url("/cat")) }
        let message = error?.message ?? ""
        #expect(message.contains("a header line of more than 65,536 bytes, \(place)"), "\(message)")
    }

    @Test func `Informational responses before the final one are accepted`() async throws {
        let server = try LoopbackServer()
        server.serve(
            "/cat",
            .raw(String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 10)).then(
                .send(Data("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmeow".utf8))))
        #expect(try await DownloadBench().fetch(server.url("/cat")).bytes == 4)
    }

    // MARK: Too slow

    @Test(arguments: [
        HostileResponse("a head, byte by byte", .downloadTimeout, drip("HTTP/1.1 200 OK\r\nX-Very-Long: ")),
        HostileResponse("fields, byte by byte", .downloadTimeout, drip("HTTP/1.1 200 OK\r\n", then: "X: 1\r\n")),
        HostileResponse("informational responses", .downloadTimeout, drip("", then: "HTTP/1.1 103 Hints\r\n\r\n")),
        HostileResponse("half a head and silence", .downloadTimeout, .raw("HTTP/1.1 200 OK\r\nX: ").then(.hang)),
    ])
    func `A head must be complete within the first-byte limit`(row: HostileResponse) async throws {
        try await DownloadBench(timeouts: .prompt(firstByte: .milliseconds(80))).expectFailure(row)
    }

    private static func drip(_ start: String, then piece: String = "a") -> LoopbackResponse {
        LoopbackResponse([
            .drip(Data((start + String(repeating: piece, count: 10_000)).utf8), pauseMilliseconds: 1)
        ])
    }

    // MARK: Not HTTP

    @Test(arguments: [
        HostileResponse("a field without a colon", .downloadHTTPStatus, .lines("HTTP/1.1 302 Found").then(.close)),
        HostileResponse(
            "a folded line before any header", .downloadHTTPStatus,
            .raw("HTTP/1.1 200 OK\r\n folded: 1\r\nContent-Length: 0\r\n\r\n").then(.close)),
        HostileResponse("no status line (HTTP/0.9)", .downloadHTTPStatus, .raw("meow meow meow\r\n").then(.close)),
        HostileResponse("a page without a head", .downloadHTTPStatus, .raw("<html></html>\r\n\r\n").then(.close)),
        HostileResponse(
            "a status that is not a number", .downloadHTTPStatus, .raw("HTTP/1.1 good OK\r\n\r\n").then(.close)),
        HostileResponse("status 99", .downloadHTTPStatus, .raw("HTTP/1.1 99 OK\r\n\r\n").then(.close)),
        HostileResponse("status 000", .downloadHTTPStatus, .raw("HTTP/1.1 000 OK\r\n\r\n").then(.close)),
        HostileResponse("status -200", .downloadHTTPStatus, .raw("HTTP/1.1 -200 OK\r\n\r\n").then(.close)),
        HostileResponse("status 2000", .downloadHTTPStatus, .raw("HTTP/1.1 2000 OK\r\n\r\n").then(.close)),
        HostileResponse("status 999", .downloadHTTPStatus, .lines(status: "999 OK").then(.close)),
        HostileResponse("HTTP/7.3", .downloadHTTPStatus, .raw("HTTP/7.3 200 OK\r\n\r\nmeow").then(.close)),
        HostileResponse(
            "an unrequested protocol upgrade", .downloadHTTPStatus,
            .lines("Upgrade: x", status: "101 Over").then(.send(Data(count: 9_000)), .close)),
        HostileResponse("a zero byte in a field", .downloadHTTPStatus, .lines("X: a\0b").then(.close)),
        HostileResponse(
            "zero bytes without end", .downloadHTTPStatus, LoopbackResponse([.sendForever(Data(count: 65_536))])),
    ])
    func `A response that is not HTTP is rejected, and not retried`(row: HostileResponse) async throws {
        #expect(try await DownloadBench().expectFailure(row).count == 1)
    }

    @Test func `A header line without a colon is named in the error`() async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .raw("HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 4\r\n\r\nmeow"))
        let error = try await DownloadBench().failure(of: server.url("/cat"))
        #expect(error.code == .downloadHTTPStatus && !error.isRetryable)
        #expect(error.message.contains("a header line without a colon"))
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ["100 Continue", "101 Switching Protocols", "103 Early Hints"])
    func `An informational response without a final one is a failed connection`(status: String) async throws {
        let row = HostileResponse(status, .downloadConnect, .raw("HTTP/1.1 \(status)\r\n\r\n").then(.close))
        try await DownloadBench().expectFailure(row)
    }

    // MARK: Meaning

    @Test func `A status line among the header fields is an ordinary field`() async throws {
        let server = try LoopbackServer()
        server.serve(
            "/cat",
            .lines("HTTP/1.1 302 Found: x", "Location: /other", "Content-Length: 4").then(.send(Data("meow".utf8))))
        let bench = try DownloadBench()
        #expect(try await bench.fetch(server.url("/cat")).bytes == 4)
        #expect(server.requests.count == 1)
    }

    @Test func `A folded field is one field`() async throws {
        let server = try LoopbackServer()
        server.serve(
            "/cat", .lines("Content-Type:", "\timage/jpeg", "Content-Length: 4").then(.send(Data("meow".utf8))))
        #expect(try await DownloadBench().fetch(server.url("/cat")).declaredMIMEType == "image/jpeg")
    }

    @Test(arguments: [
        "image/jp\u{1b}[31meg", "image", "image/", "/jpeg", "a/b/c", "image/\u{202e}gepj", "ïmage/jpeg",
        "image/" + String(repeating: "j", count: 128), "\"image/jpeg\"",
    ])
    func `An invalid Content-Type is ignored`(type: String) async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .lines("Content-Type: \(type)", "Content-Length: 4").then(.send(Data("meow".utf8))))
        #expect(try await DownloadBench().fetch(server.url("/cat")).declaredMIMEType == nil)
    }
}
