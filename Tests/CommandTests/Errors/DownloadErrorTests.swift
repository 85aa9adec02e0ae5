import Foundation
import TestSupport
import Testing

/// Downloads that fail: each has its error code and leaves no files.
@Suite(.timeLimit(.minutes(3))) struct DownloadErrorTests {
    let bench: CommandBench
    let server: LoopbackServer
    let image: Data

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
        image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
    }

    @Test func `A closed port is download.connect`() async throws {
        let port = try RawPort(greeting: nil)
        try await bench.expectRejection("download.connect", of: "http://127.0.0.1:\(port.number)/cat.jpg")
    }

    @Test(arguments: [400, 401, 403, 500, 503])
    func `A status other than success, 404 and 410 is download.http_status`(status: Int) async throws {
        server.serve("/cat.jpg", .status(status, [:], Data("no".utf8)))
        try await bench.expectRejection("download.http_status", of: server.url("/cat.jpg"))
    }

    @Test func `Endless redirects are download.too_many_redirects`() async throws {
        server.serve("/cat.jpg", .redirect("/cat.jpg?again"))
        try await bench.expectRejection("download.too_many_redirects", of: server.url("/cat.jpg"))
        #expect(server.requests.count == 6)
    }

    @Test func `A body shorter than its declared length is download.truncated`() async throws {
        server.serve("/cat.jpg", .start(of: image, bytes: 30_000).then(.close))
        try await bench.expectRejection("download.truncated", of: server.url("/cat.jpg"))
    }

    @Test func `A chunked body that ends too early is download.truncated`() async throws {
        let head = LoopbackResponse.head(200, ["Transfer-Encoding": "chunked"])
        server.serve("/cat.jpg", head.then(.send(LoopbackResponse.chunk(image)), .close))
        try await bench.expectRejection("download.truncated", of: server.url("/cat.jpg"))
    }

    @Test func `A connection reset in the middle of a body is resumed with a range request`() async throws {
        let (body, count) = (image, 20_000)
        server.serve("/cat.jpg") { request in
            request.number == 1
                ? .start(of: body, bytes: count, ["ETag": "\"1\""]).then(.reset)
                : .ranged(body, etag: "\"1\"", for: request)
        }
        let manifest = try await bench.prepare(server.url("/cat.jpg"))
        #expect(manifest.outcome == "passed" && manifest.source.bytes == image.count)
        #expect(server.requests.count == 2)
    }

    @Test func `A declared length over the limit is download.too_large before the body`() async throws {
        server.serve("/cat.tiff", .head(200, ["Content-Length": "600000000"]).then(.hang))
        try await bench.expectRejection("download.too_large", of: server.url("/cat.tiff"))
    }

    @Test func `An endless still is download.too_large at its limit`() async throws {
        let tiff = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.webp")))
        let endless = LoopbackResponse.head(200).then(.send(tiff), .sendForever(Data(count: 1 << 16)))
        server.serve("/cat.webp", endless)
        try await bench.expectRejection("download.too_large", of: server.url("/cat.webp"))
    }

    @Test func `A server that never responds is deadline.exceeded when the budget is used up`() async throws {
        server.serve("/cat.jpg", LoopbackResponse([.hang]))
        try await bench.expectRejection("deadline.exceeded", of: server.url("/cat.jpg"), "--budget", "700ms")
    }

    @Test func `A body that does not end within the budget is deadline.exceeded`() async throws {
        server.serve("/cat.jpg", .start(of: image, bytes: 30_000).then(.hang))
        try await bench.expectRejection("deadline.exceeded", of: server.url("/cat.jpg"), "--budget", "700ms")
    }

    @Test(.enabled(if: LongTests.areEnabled))
    func `A server that never responds is download.timeout when the budget is long`() async throws {
        server.serve("/cat.jpg", LoopbackResponse([.hang]))
        // Four attempts of 15 s each.
        let arguments = bench.arguments("prepare", ["--budget", "300s", server.url("/cat.jpg")])
        let result = try await bench.command(arguments, timeoutSeconds: 150).run()
        bench.expect(try PrintedManifest(line: try #require(result.lines.first)), rejectedAs: "download.timeout")
        #expect(try bench.leftovers() == [])
    }

    @Test func `https to a plain http server is download.tls`() async throws {
        let plain = try RawPort(greeting: "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        try await bench.expectRejection("download.tls", of: "https://127.0.0.1:\(plain.number)/cat.jpg")
    }

    @Test func `A self-signed certificate is download.tls, and accepted with --ca-file`() async throws {
        let secure = try await SecureServer()
        defer { secure.stop() }
        try await bench.expectRejection("download.tls", of: secure.url("/grid.jpg"))
        let manifest = try await bench.prepare(secure.url("/grid.jpg"), "--ca-file", secure.certificate)
        #expect(manifest.outcome == "passed")
        #expect(try #require(manifest.timings["tls"]) > 0)
    }

    @Test func `A certificate for another name is download.tls`() async throws {
        let secure = try await SecureServer()
        defer { secure.stop() }
        let url = secure.url("/grid.jpg").replacing("127.0.0.1", with: "cdn.example")
        try await bench.expectRejection(
            "download.tls", of: url, "--ca-file", secure.certificate, "--resolve",
            "cdn.example:\(secure.port):127.0.0.1")
    }
}

/// A TCP port of 127.0.0.1 that refuses connections, or sends a fixed text and closes.
final class RawPort: Sendable {
    let number: Int
    private let descriptor: Int32

    /// - Parameter greeting: sent to each client before it sends anything; nil refuses connections.
    init(greeting: String?) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (descriptor, size) = (descriptor, length)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                // Bound and not listening: the kernel refuses connections, and no other process gets the port.
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw TestError(description: "no port could be bound") }
        number = Int(UInt16(bigEndian: address.sin_port))
        if let greeting { greet(with: greeting) }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    private func greet(with greeting: String) {
        let descriptor = descriptor
        listen(descriptor, 8)
        Thread.detachNewThread {
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                _ = Array(greeting.utf8).withUnsafeBytes { write(client, $0.baseAddress, $0.count) }
                shutdown(client, Int32(SHUT_WR))
                // Reads the request, because closing with unread input would reset the connection.
                var received = [UInt8](repeating: 0, count: 4096)
                while read(client, &received, received.count) > 0 {}
                close(client)
            }
        }
    }
}

/// Serves the samples over https with a self-signed certificate for 127.0.0.1.
final class SecureServer: Sendable {
    /// The path of the certificate, for `--ca-file`.
    let certificate: String
    private let folder: TemporaryFolder
    private let process: RunningCommand
    let port: Int

    init() async throws {
        folder = try TemporaryFolder()
        certificate = folder.path("certificate.pem")
        let key = folder.path("key.pem")
        let arguments = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1"
        let made = try await RunCommand(
            "openssl",
            arguments.split(separator: " ").map(String.init)
                + ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
        ).run()
        guard made.exitCode == 0 else { throw TestError(description: made.errorText) }
        let process = try RunCommand(
            "openssl", ["s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate, "-WWW"],
            folder: SourceTree.path("samples/media")
        ).start()
        self.process = process
        try await waitUntil("openssl s_server prints its port") { Self.port(of: process) != nil }
        port = Self.port(of: process) ?? 0
    }

    func url(_ path: String) -> String { "https://127.0.0.1:\(port)\(path)" }

    func stop() {
        process.send(SIGKILL)
    }

    /// The port in a line such as "ACCEPT 127.0.0.1:40123".
    private static func port(of process: RunningCommand) -> Int? {
        guard let text = try? process.textSoFar(), let line = text.firstMatch(of: /ACCEPT .*:([0-9]+)\n/) else {
            return nil
        }
        return Int(line.1)
    }
}
