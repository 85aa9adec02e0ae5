import Foundation
import TestSupport
import Testing

/// Sources that are rejected or do not exist.
@Suite(.timeLimit(.minutes(2))) struct SourceErrorTests {
    let bench: CommandBench
    let server: LoopbackServer

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
    }

    @Test(arguments: ["http://", "http://a b/", "https://[::1/", "http://127.0.0.1:99999/"])
    func `A malformed URL is source.invalid_url`(source: String) async throws {
        try await bench.expectRejection("source.invalid_url", of: source)
    }

    @Test(arguments: ["ftp://127.0.0.1/cat.jpg", "data:image/png;base64,AAAA", "gopher://127.0.0.1/", "javascript:1"])
    func `A scheme other than http and https is source.scheme_not_allowed`(source: String) async throws {
        try await bench.expectRejection("source.scheme_not_allowed", of: source)
    }

    @Test(arguments: ["ftp://127.0.0.1/cat.jpg", "file:///etc/passwd", "data:,x"])
    func `A redirect to another scheme is source.scheme_not_allowed`(location: String) async throws {
        server.serve("/cat", .redirect(location))
        try await bench.expectRejection("source.scheme_not_allowed", of: server.url("/cat"))
    }

    @Test func `With --https-only, plain http is source.scheme_not_allowed`() async throws {
        try await bench.expectRejection("source.scheme_not_allowed", of: server.url("/cat"), "--https-only")
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: ["127.0.0.1", "2130706433", "0x7f000001", "0177.1", "[::ffff:127.0.0.1]", "localhost", "0.0.0.0"])
    func `Loopback is source.address_blocked in every spelling, without a connection`(host: String) async throws {
        server.serve("/cat.jpg", .body(Data("meow".utf8)))
        let url = server.url("/cat.jpg", host: host)
        let result = try await bench.run("prepare", "--output", bench.output, "--format", "json", url)
        let manifest = try PrintedManifest(line: try #require(result.lines.first))
        bench.expect(manifest, rejectedAs: "source.address_blocked")
        #expect(result.exitCode == 1)
        #expect(server.connectionCount == 0)
        #expect(try bench.leftovers() == [])
    }

    @Test(arguments: [404, 410])
    func `A 404 or 410 response is source.not_found`(status: Int) async throws {
        server.serve("/cat.jpg", .status(status, [:], Data("gone".utf8)))
        try await bench.expectRejection("source.not_found", of: server.url("/cat.jpg"))
        #expect(server.requests.count == 1)
    }

    @Test func `A host name that does not exist is download.dns`() async throws {
        try await bench.expectRejection("download.dns", of: "http://nowhere.invalid/cat.jpg", "--budget", "8s")
    }

    @Test func `--resolve sets the address of a host name`() async throws {
        server.serve("/cat", .body(try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))))
        let manifest = try await bench.prepare(
            server.url("/cat", host: "cdn.example"), "--resolve", "cdn.example:\(server.port):127.0.0.1")
        #expect(manifest.outcome == "passed")
        #expect(server.requests.first?.headers["host"] == "cdn.example:\(server.port)")
    }
}
