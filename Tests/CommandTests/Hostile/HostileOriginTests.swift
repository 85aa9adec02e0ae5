import Foundation
import TestSupport
import Testing

/// Origins that send without end: the real command ends in time, with bounded memory and few received bytes.
@Suite(.timeLimit(.minutes(2))) struct HostileOriginTests {
    let bench: CommandBench
    let server: LoopbackServer

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
    }

    /// Maximum resident memory of the command and of its media process: 39 to 63 MB were measured, of which 54 MB are
    /// the libraries of the media process.
    private static let memoryMax = 150_000_000

    private static let floods: [(name: String, code: String, bytesMax: Int, response: LoopbackResponse)] = [
        ("fields", "download.too_large", 8_000_000, endless("HTTP/1.1 200 OK\r\n", "X: 1\r\n")),
        ("one field", "download.too_large", 8_000_000, endless("HTTP/1.1 200 OK\r\nX: ", "a")),
        ("informational responses", "download.too_large", 8_000_000, endless("", "HTTP/1.1 103 Hints\r\n\r\n")),
        (
            // It ends when no content has arrived for some seconds: loopback carries up to a gigabyte in that time.
            "an extension of a chunk", "download.truncated", 4_000_000_000,
            endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;", "a")
        ),
        ("zeros", "media.unrecognized", 100_000_000, endless("HTTP/1.1 200 OK\r\n\r\n", "\0")),
        (
            "a redirect's body", "download.too_many_redirects", 50_000_000,
            endless("HTTP/1.1 302 Found\r\nLocation: /cat\r\n\r\n", "a")
        ),
    ]

    private static func endless(_ start: String, _ piece: String) -> LoopbackResponse {
        .raw(start).then(.sendForever(Data(String(repeating: piece, count: 65_536 / piece.utf8.count).utf8)))
    }

    @Test(arguments: Self.floods.indices)
    func `An endless response is cut off at its limit, with bounded memory`(index: Int) async throws {
        let flood = Self.floods[index]
        server.serve("/cat", flood.response)
        try await expectBoundedMemory(flood.code, of: server.url("/cat"))
        #expect(server.bytesSent < flood.bytesMax, "\(flood.name): \(server.bytesSent)")
    }

    @Test func `A decompression bomb is cut off at its limit, with bounded memory`() async throws {
        let bomb = LoopbackGzip.bomb(unpackedBytes: 80_000_000)
        // The first bytes are those of a BMP, so that it is not rejected by its format.
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.bmp"))).prefix(60)
        let packed = LoopbackGzip.begin(with: image, bomb)
        server.serve("/cat", .body(packed, headers: ["Content-Encoding": "gzip"]))
        try await expectBoundedMemory("download.too_large", of: server.url("/cat"))
    }

    @Test func `A flood of HTTP/2 frames is cut off, with bounded memory`() async throws {
        let frame = LoopbackHTTP2.frame(.windowUpdate, stream: 0, Data([0, 0, 0, 1]))
        let flood = repeatElement(frame, count: 5_000).reduce(into: Data()) { $0 += $1 }
        server.serve("*", LoopbackHTTP2.conversation([.sendForever(flood)]))
        let relay = try TLSRelay(to: server, protocols: ["h2"])
        let authority = try TestCertificates.shared.authorityFile
        try await expectBoundedMemory("download.connect", of: relay.url("/cat"), "--ca-file", authority)
    }

    /// Expects that the request fails with this code, and that the command and its media process stay below the limit.
    private func expectBoundedMemory(_ code: String, of source: String, _ options: String...) async throws {
        let measured = """
            import resource, subprocess, sys
            status = subprocess.run(sys.argv[1:]).returncode
            print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, file=sys.stderr)
            sys.exit(status)
            """
        var command = try bench.command(bench.arguments("prepare", options + [source]))
        command.arguments = ["-c", measured, command.program] + command.arguments
        command.program = "python3"
        let result = try await command.run()
        bench.expect(try PrintedManifest(line: try #require(result.lines.first)), rejectedAs: code)
        let lines = result.errorText.split(separator: "\n")
        let memory = try #require(lines.last.flatMap { Int($0) }, "\(result.errorText)")
        #expect(memory < Self.memoryMax)
        #expect(try bench.leftovers() == [])
    }
}
