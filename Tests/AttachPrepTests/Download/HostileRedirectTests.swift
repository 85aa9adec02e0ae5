import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

/// Hostile redirects.
@Suite(.timeLimit(.minutes(1))) struct HostileRedirectTests {
    let server: LoopbackServer
    let bench: DownloadBench

    init() throws {
        server = try LoopbackServer()
        bench = try DownloadBench()
        server.serve("/cat", .body(Data("meow".utf8)))
    }

    @Test(arguments: [
        "file:///etc/passwd", "FILE:///etc/passwd", "ftp://h/cat", "ftps://h/cat", "gopher://h/_GET", "dict://h/d:a",
        "tftp://h/cat", "ldap://h/", "telnet://h/", "smb://h/s/cat", "scp://h/cat", "imap://h/", "rtsp://h/",
        "data:image/gif;base64,R0lGODdh", "javascript:alert(1)", "about:blank", "blob:http://h/x", "ws://h/",
        "view-source:http://h/",
        "jar:http://h/a!/b", "mailto:a@h", "file:/etc/passwd",
    ])
    func `A redirect to another scheme is rejected`(location: String) async throws {
        server.serve("/go", .redirect(location))
        let error = try await bench.failure(of: server.url("/go"))
        #expect(error.code == .sourceSchemeNotAllowed)
        #expect(!error.isRetryable)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        "http://", "http://a b/", "http://[::1", "http://h:99999/", "http://h:0/", "http://%00/",
        "http://h\u{1}/", "http:// /", "http://h\r/", "//", "http://h/\u{7f}",
    ])
    func `A redirect to an invalid URL is rejected`(location: String) async throws {
        server.serve("/go", .redirect(location))
        let error = try await bench.failure(of: server.url("/go"))
        #expect([.sourceInvalidURL, .downloadHTTPStatus].contains(error.code), "\(error.code) \(error.message)")
        #expect(error.message.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        #expect(server.requests.count == 1)
    }

    @Test func `An oversized URL is rejected with a short message`() async throws {
        let path = "/" + String(repeating: "a", count: Limits.urlBytesMax)
        for location in [server.url(path), path, "gopher:" + path, "http://[" + path] {
            server.serve("/go", .redirect(location))
            let error = try await bench.failure(of: server.url("/go"))
            #expect([.sourceInvalidURL, .sourceSchemeNotAllowed].contains(error.code))
            #expect(error.message.utf8.count < 400)
        }
    }

    @Test func `A relative redirect that grows with every hop ends`() async throws {
        server.serve("/go", .redirect("?" + String(repeating: "a", count: 7_000)))
        #expect(try await bench.failure(of: server.url("/go")).code == .downloadTooManyRedirects)
    }

    @Test(arguments: [["/cat", "/dog"], ["/cat", "http://127.0.0.2/"]])
    func `Two different locations are an error`(locations: [String]) async throws {
        let lines = locations.map { "Location: \($0)\r\n" }.joined()
        server.serve("/go", .raw("HTTP/1.1 302 Found\r\n\(lines)Content-Length: 0\r\n\r\n"))
        #expect(try await bench.failure(of: server.url("/go")).code == .downloadHTTPStatus)
        #expect(server.requests.count == 1)
    }

    @Test func `The same location twice counts as one`() async throws {
        server.serve("/go", .raw("HTTP/1.1 302 Found\r\nLocation: /cat\r\nlocation: /cat\r\nContent-Length: 0\r\n\r\n"))
        #expect(try await bench.fetch(server.url("/go")).bytes == 4)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `A redirect without a location is an error`(status: Int) async throws {
        server.serve("/go", .status(status))
        let error = try await bench.failure(of: server.url("/go"))
        #expect(error.code == .downloadHTTPStatus)
        #expect(!error.isRetryable)
    }

    @Test(arguments: [300, 304, 305, 306, 399])
    func `A status that is not a redirect is not followed`(status: Int) async throws {
        server.serve("/go", .redirect("/cat", status: status))
        #expect(try await bench.failure(of: server.url("/go")).code == .downloadHTTPStatus)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ["Refresh: 0; url=/cat", "Content-Location: /cat", "Link: </cat>; rel=canonical", "URI: /cat"])
    func `Only the Location header redirects`(line: String) async throws {
        server.serve("/page", .lines(line, "Content-Length: 4").then(.send(Data("page".utf8))))
        #expect(try await bench.fetch(server.url("/page")).finalURL == server.url("/page"))
        #expect(server.requests.count == 1)
    }

    @Test func `A redirect with a huge body is followed at once`() async throws {
        let head = LoopbackResponse.lines("Location: /cat", "Content-Length: 9000000000", status: "302 Found")
        server.serve("/go", head.then(.sendForever(Data(count: 65_536))))
        #expect(try await bench.fetch(server.url("/go")).bytes == 4)
        // Its connection is closed, not read to the end.
        await server.until { $0.openConnectionCount == 1 }
    }

    @Test func `A redirect with a slow body is followed in time`() async throws {
        let head = LoopbackResponse.lines("Location: /cat", "Content-Length: 10000", status: "302 Found")
        server.serve("/go", head.then(.drip(Data(count: 10_000), pauseMilliseconds: 5)))
        let bench = try DownloadBench(timeouts: .prompt(stall: .milliseconds(80)))
        #expect(try await bench.fetch(server.url("/go")).bytes == 4)
    }

    @Test func `A redirect loop between two servers ends`() async throws {
        let other = try LoopbackServer()
        server.serve("/go", .redirect(other.url("/go")))
        other.serve("/go", .redirect(server.url("/go")))
        #expect(try await bench.failure(of: server.url("/go")).code == .downloadTooManyRedirects)
        #expect(server.requests.count + other.requests.count == Limits.redirectsMax + 1)
    }

    // MARK: Secrets

    @Test func `Credentials are sent again after a redirect back, but never to the other port`() async throws {
        let other = try LoopbackServer()
        server.serve("/go", .redirect(other.url("/go")))
        other.serve("/go", .redirect(server.url("/cat")))
        try await bench.fetch(server.url("/go"), headers: [("Authorization", "Bearer a"), ("Cookie", "a=b")])
        #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer a", "Bearer a"])
        #expect(other.requests.map { $0.headers["authorization"] } == [nil])
        #expect(other.requests.map { $0.headers["cookie"] } == [nil])
    }

    @Test func `The same host on another port is another origin`() async throws {
        let other = try LoopbackServer()
        other.serve("/cat", .body(Data("purr".utf8)))
        server.serve("/go", .redirect("//127.0.0.1:\(other.port)/cat"))
        try await bench.fetch(server.url("/go"), headers: [("Authorization", "Bearer a")])
        #expect(other.requests.map { $0.headers["authorization"] } == [nil])
        #expect(other.requests.map { $0.headers["referer"] } == [nil])
    }
}
