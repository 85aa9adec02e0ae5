import Foundation
import TestSupport
import Testing

/// HLS streams through the command and its media processes: `prepare`, `batch`, `payload` and `inspect` alike.
@Suite(.timeLimit(.minutes(3))) struct HLSCommandTests {
    let bench: CommandBench
    let server: LoopbackServer
    let url: String

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
        let stream = try HLSStream()
        try stream.cut()
        // Without an end: a live stream.
        try stream.edit { $0.replacing("#EXT-X-ENDLIST", with: "") }
        try stream.serve(on: server)
        url = server.url("/list.m3u8")
    }

    private func expectClip(_ manifest: PrintedManifest, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(manifest.outcome == "converted", "\(manifest.reasons)", sourceLocation: sourceLocation)
        #expect(manifest.source.playlist?.live == true && manifest.source.playlist?.segments == 2)
        let path = bench.path(manifest, try #require(manifest.attachment?.file))
        #expect(try NumberedFrame.all(of: path).map(\.number) == Array(75..<125), sourceLocation: sourceLocation)
    }

    @Test func `prepare takes the last seconds of a live stream`() async throws {
        try expectClip(try await bench.prepare(url, "--clip", "2s"))
    }

    @Test func `batch takes them by an option and by a key of a line`() async throws {
        let lines = ["{\"source\": \"\(url)\", \"id\": \"a\", \"clip\": 2}", "{\"source\": \"\(url)\", \"id\": \"b\"}"]
        let result = try await bench.batch(lines, "--clip", "1s")
        try expectClip(try #require(result.manifests["a"]))
        #expect(result.manifests["b"]?.source.playlist?.segments == 1)
    }

    @Test func `payload replaces the playlist by the movie`() async throws {
        let json = "{\"aps\":{\"alert\":\"x\",\"mutable-content\":1},\"attach\":\"\(url)\"}"
        let arguments = ["payload", "-", "--output", bench.output, "--base-url", "https://media.example"]
        let result = try await bench.command(arguments + ["--allow-private-network", "--clip", "2s"], input: json).run()
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(result.text.contains("public.mpeg-4") && !result.text.contains("m3u8"), "\(result.text)")
    }

    @Test func `inspect says that the segments are joined`() async throws {
        let result = try await bench.command(
            ["inspect", url, "--allow-private-network", "--format", "json", "--clip", "2s"]
        ).run()
        #expect(result.text.contains("\"converted\"") && result.text.contains("joined into an MP4"), "\(result.text)")
    }

    @Test func `A clip over five minutes is request.invalid`() async throws {
        #expect(try await bench.prepare(url, "--clip", "301s").error?.code == "request.invalid")
    }

    @Test func `A local playlist is media.unrecognized`() async throws {
        let path = try bench.folder.write("#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:1,\n/etc/passwd\n", to: "a.m3u8")
        #expect(try await bench.prepare(path).error?.code == "media.unrecognized")
    }
}
