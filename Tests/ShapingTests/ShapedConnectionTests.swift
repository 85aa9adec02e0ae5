import Foundation
import TestSupport
import Testing

/// Connections through the real binary.
@Suite(.timeLimit(.minutes(2))) struct ShapedConnectionTests {
    private static let movie = ShapingServerBench.bytes(2_000_000)

    @Test func `The relay forwards all bytes unchanged in both directions`() async throws {
        let origin = try LoopbackServer()
        origin.serve("/movie.mp4", .body(Data(Self.movie), type: "video/mp4"))
        origin.serve("/echo") { .body($0.body, type: "application/octet-stream") }
        let bench = try await ShapingServerBench(origin: origin)
        #expect(try await bench.fetch("/movie.mp4").output == Self.movie)
        let upload = try bench.folder.write(Array(Self.movie.prefix(300_000)), to: "upload")
        let echo = try await bench.fetch("/echo", ["--data-binary", "@\(upload)", "-H", "Expect:"])
        #expect(echo.output == Array(Self.movie.prefix(300_000)))
    }

    @Test func `An unreachable origin ends the connection`() async throws {
        let origin = try LoopbackServer()
        let bench = try await ShapingServerBench(origin: origin)
        origin.stop()
        // curl: empty reply, or reset.
        #expect([52, 56].contains(try await bench.fetch("/movie.mp4").exitCode))
    }

    @Test func `A disconnecting client ends the connection to the origin`() async throws {
        let origin = try LoopbackServer()
        origin.serve("/movie.mp4", .body(Data(Self.movie), type: "video/mp4"))
        let bench = try await ShapingServerBench(origin: origin, network: "400,20")
        _ = try await bench.fetch("/movie.mp4", ["--max-time", "1"])
        await origin.until { $0.openConnectionCount == 0 }
    }

    @Test func `With --cut-after, the connection ends after that many bytes`() async throws {
        let bench = try await ShapingServerBench(files: ["movie.mp4": Self.movie], ["--cut-after", "100000"])
        let result = try await bench.fetch("/movie.mp4", ["-i"])
        // curl: partial file.
        #expect(result.exitCode == 18)
        #expect(result.output.count == 100_000)
    }

    @Test func `With --stall-after, the connection stays open without further bytes`() async throws {
        let bench = try await ShapingServerBench(files: ["movie.mp4": Self.movie], ["--stall-after", "100000"])
        let result = try await bench.fetch("/movie.mp4", ["-i", "--max-time", "2"])
        // curl: timeout.
        #expect(result.exitCode == 28)
        #expect(result.output.count == 100_000)
    }

    @Test func `Connections over the limit are closed until another one ends`() async throws {
        let bench = try await ShapingServerBench(
            files: ["movie.mp4": Self.movie], ["--connections", "1", "--stall-after", "1000"])
        let first = try RunCommand("curl", ["-s", "-N", "-o", bench.folder.path("got"), bench.url("/movie.mp4")])
            .start()
        try await waitUntil("the first connection receives bytes") {
            ((try? bench.folder.bytes(of: "got"))?.count ?? 0) > 0
        }
        #expect([52, 56].contains(try await bench.fetch("/movie.mp4").exitCode))
        first.send(SIGTERM)
        _ = try await first.result()
        try await pollUntil("another connection is accepted") {
            try await bench.fetch("/movie.mp4", ["-I"]).exitCode == 0
        }
    }

    @Test func `Clients that share a link receive all their bytes`() async throws {
        let bench = try await ShapingServerBench(
            files: ["movie.mp4": Self.movie], network: "100000,2", ["--shared"])
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask { try await bench.fetch("/movie.mp4").output == Self.movie }
            }
            for try await isWhole in group { #expect(isWhole) }
        }
    }

    @Test func `SIGTERM ends the server`() async throws {
        let bench = try await ShapingServerBench()
        bench.server.send(SIGTERM)
        #expect(try await bench.server.result().exitCode == 128 + SIGTERM)
    }

    @Test(arguments: [
        ["--network", "3g"], ["--root", "/"], ["--root", "/nowhere", "--network", "3g"],
        ["--root", "/tmp", "--network", "5g"], ["--root", "/tmp", "--listen", "3g"],
        ["--root", "/tmp", "--listen", "3g=70000"], ["--upstream", "http://example.com:80", "--network", "3g"],
        ["--root", "/tmp", "--network", "3g", "--cut-after", "0"], ["--root"], ["--fast"],
    ])
    func `Invalid arguments are rejected at the start`(arguments: [String]) async throws {
        let result = try await RunCommand(BuiltBinary.shapingServer(), arguments).run()
        #expect(result.exitCode == 2)
        #expect(result.errorText.hasPrefix("ShapingServer: "))
    }
}
