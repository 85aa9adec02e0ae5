import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

@Suite(.timeLimit(.minutes(1))) struct DownloadRedirectTests {
    let server: LoopbackServer
    let other: LoopbackServer
    let bench: DownloadBench

    init() throws {
        server = try LoopbackServer()
        other = try LoopbackServer()
        bench = try DownloadBench()
        server.serve("/cat", .body(Data("meow".utf8)))
        other.serve("/cat", .body(Data("purr".utf8)))
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `A redirect is followed`(status: Int) async throws {
        server.serve("/go", .redirect(server.url("/cat"), status: status))
        let file = try await bench.fetch(server.url("/go"))
        #expect(file.finalURL == server.url("/cat"))
        #expect(file.attempts == 1)
        #expect(try bench.content == Data("meow".utf8))
    }

    @Test(arguments: ["cat", "/cat", "../cat", "./cat#top", " /cat "])
    func `A relative location is resolved against its redirect`(location: String) async throws {
        server.serve("/go", .redirect(location))
        #expect(try await bench.fetch(server.url("/go")).finalURL == server.url("/cat"))
    }

    @Test func `Redirects are followed up to the limit, and not one more`() async throws {
        for hop in 1...Limits.redirectsMax { server.serve("/hop\(hop)", .redirect("/hop\(hop - 1)")) }
        server.serve("/hop0", .body(Data("meow".utf8)))
        server.serve("/hop\(Limits.redirectsMax + 1)", .redirect("/hop\(Limits.redirectsMax)"))
        #expect(try await bench.fetch(server.url("/hop\(Limits.redirectsMax)")).bytes == 4)
        let error = try await bench.failure(of: server.url("/hop\(Limits.redirectsMax + 1)"))
        #expect(error.code == .downloadTooManyRedirects)
    }

    @Test func `A redirect loop ends`() async throws {
        server.serve("/go", .redirect("/go"))
        #expect(try await bench.failure(of: server.url("/go")).code == .downloadTooManyRedirects)
        #expect(server.requests.count == Limits.redirectsMax + 1)
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://cdn.example/cat", "gopher://cdn.example/"])
    func `A redirect to a scheme other than http or https is rejected`(location: String) async throws {
        server.serve("/go", .redirect(location))
        #expect(try await bench.failure(of: server.url("/go")).code == .sourceSchemeNotAllowed)
    }

    @Test func `A redirect's own body never reaches the file or the caller`() async throws {
        server.serve("/go", .status(302, ["Location": "/cat"], Data(count: 9_000)))
        try await bench.fetch(server.url("/go"))
        #expect(try bench.content == Data("meow".utf8))
        #expect(bench.prefixChecks.map(\.bytes) == [4])
        #expect(server.connectionCount == 1)
    }

    @Test func `A redirect's endless body is cut off`() async throws {
        server.serve("/go", .head(302, ["Location": "/cat"]).then(.sendForever(Data(count: 9_000))))
        #expect(try await bench.fetch(server.url("/go")).bytes == 4)
    }

    @Test func `A redirect without a location is an error`() async throws {
        server.serve("/go", .status(302))
        #expect(try await bench.failure(of: server.url("/go")).code == .downloadHTTPStatus)
    }

    @Test func `A location that is not UTF-8 is requested byte for byte`() async throws {
        var head = Data("HTTP/1.1 302 Found\r\nLocation: /caf".utf8)
        head += [0xE9] + Data(".jpg\r\nContent-Length: 0\r\n\r\n".utf8)
        server.serve("/go", LoopbackResponse([.send(head)]))
        server.serve("/caf%E9.jpg", .body(Data("meow".utf8)))
        #expect(try await bench.fetch(server.url("/go")).finalURL == server.url("/caf%E9.jpg"))
    }

    // MARK: Cookies

    @Test func `A redirect back with a cookie gets it`() async throws {
        server.serve(
            "/go",
            inTurn: [
                .status(302, ["Set-Cookie": "seen=1; Path=/; HttpOnly", "Location": "/go"]), .body(Data(count: 4)),
            ])
        #expect(try await bench.fetch(server.url("/go"), headers: [("Cookie", "mine=1")]).bytes == 4)
        #expect(server.requests.map { $0.headers["cookie"] } == ["mine=1", "mine=1; seen=1"])
    }

    @Test func `Cookies of a redirect are not sent to another host`() async throws {
        let policy = DownloadPolicy(resolveOverrides: ["other.example:\(other.port):127.0.0.1"])
        let bench = try DownloadBench(policy: policy)
        let away = "http://other.example:\(other.port)/cat"
        server.serve("/go", .status(302, ["Set-Cookie": "seen=1; Path=/; Domain=.example", "Location": away]))
        server.serve("/go2", .status(302, ["Set-Cookie": "seen=1; Path=/", "Location": away]))
        for path in ["/go", "/go2"] { try await bench.fetch(server.url(path)) }
        #expect(other.requests.map { $0.headers["cookie"] } == [nil, nil])
    }

    // MARK: Secrets

    @Test func `The caller's headers and user info are sent to the first origin only`() async throws {
        server.serve("/go", .redirect("/away"))
        server.serve("/away", .redirect(other.url("/cat")))
        let url = server.url("/go").replacing("http://", with: "http://me:p%3Aw@")
        try await bench.fetch(url, headers: [("X-Tenant", "7")])
        let basic = "Basic " + Data("me:p:w".utf8).base64EncodedString()
        #expect(server.requests.map { $0.headers["authorization"] } == [basic, basic])
        #expect(server.requests.map { $0.headers["x-tenant"] } == ["7", "7"])
        #expect(other.requests.first?.headers["authorization"] == nil)
        #expect(other.requests.first?.headers["x-tenant"] == nil)
    }

    @Test func `The caller's Authorization header takes precedence over user info`() async throws {
        let url = server.url("/cat").replacing("http://", with: "http://me:secret@")
        try await bench.fetch(url, headers: [("authorization", "Bearer a")])
        #expect(server.requests.first?.headers["authorization"] == "Bearer a")
    }

    @Test func `User info in a location is not used`() async throws {
        server.serve("/go", .redirect(other.url("/cat").replacing("http://", with: "http://you:secret@")))
        let file = try await bench.fetch(server.url("/go"))
        #expect(other.requests.first?.headers["authorization"] == nil)
        #expect(file.finalURL == other.url("/cat"))
    }

    @Test func `The final URL is redacted`() async throws {
        server.serve("/go", .redirect("/cat?w=1&X-Amz-Signature=s3cr3t"))
        let file = try await bench.fetch(server.url("/go"))
        #expect(file.finalURL == server.url("/cat?w=1&X-Amz-Signature=REDACTED"))
    }

    @Test(arguments: [
        ("Host", "inside"), ("Range", "bytes=1-"), ("Content-Length", "1"), ("Transfer-Encoding", "chunked"),
        ("X-A", "b\r\nHost: inside"), ("X A", "b"), ("", "b"), ("X-A", "b\u{0}"),
    ])
    func `A reserved or malformed request header is rejected`(name: String, value: String) async throws {
        let error = try await bench.failure(of: server.url("/cat"), headers: [(name, value)])
        #expect(error.code == .requestInvalid)
        #expect(server.connectionCount == 0)
    }

    @Test func `The caller can set User-Agent and an empty header`() async throws {
        try await bench.fetch(server.url("/cat"), headers: [("User-Agent", "push/2"), ("X-Empty", "")])
        #expect(server.requests.first?.headers["user-agent"] == "push/2")
        #expect(server.requests.first?.headers["x-empty"] == "")
    }

    // MARK: Proxy

    @Test func `With a proxy only the proxy's name is resolved`() async throws {
        let resolver = FixedResolver(["proxy.example": ["127.0.0.1"]])
        let policy = DownloadPolicy(proxy: "http://proxy.example:\(other.port)")
        let bench = try DownloadBench(policy: policy, exempt: [], resolver: resolver)
        other.serve("http://cdn.example/cat", .body(Data("via".utf8)))
        #expect(try await bench.fetch("http://cdn.example/cat").bytes == 3)
        #expect(Set(resolver.names) == ["proxy.example"])
    }

    @Test func `A rejection by the proxy is reported as the proxy's`() async throws {
        other.serve("cdn.example:443", .status(403))
        let bench = try DownloadBench(policy: DownloadPolicy(proxy: "127.0.0.1:\(other.port)"))
        let error = try await bench.failure(of: "https://cdn.example/cat")
        #expect(error.code == .downloadConnect)
        #expect(error.message.contains("proxy"))
        #expect(other.requests.count == 1)
    }

    @Test func `An invalid proxy URL is rejected at startup`() throws {
        let error = #expect(throws: AttachPrepError.self) {
            try DownloadBench(policy: DownloadPolicy(proxy: "http://[::1"))
        }
        #expect(error?.code == .requestInvalid)
    }
}
