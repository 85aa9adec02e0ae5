import AttachPrep
import AttachPrepModel
import Foundation
import RichPush
import TestSupport
import Testing

/// Playlists made to cause harm: each is refused with a code, leaves no files and costs little.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HostileHLSTests {
    private func expectRejection(
        _ code: ErrorCode, _ lines: [String], served: (HLSBench) -> Void = { _ in },
        _ change: (inout AttachmentRequest) -> Void = { _ in }, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let bench = try HLSBench()
        served(bench)
        let manifest = await bench.prepare(
            text: (["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + lines).joined(separator: "\n"), change)
        #expect(manifest.error?.code == code, "\(manifest.reasons)", sourceLocation: sourceLocation)
        #expect(bench.leftovers.isEmpty, sourceLocation: sourceLocation)
        #expect(bench.server.bytesSent <= 65_536 + 4_096, sourceLocation: sourceLocation)
        await bench.shutdown()
    }

    @Test(arguments: [
        "file:///etc/passwd", "FILE:/etc/passwd", "data:video/mp2t;base64,AAAA", "crypto:http://127.0.0.1/a.ts",
        "concat:a.ts|b.ts", "subfile,,start,0,end,9,,:/etc/passwd", "ftp://127.0.0.1/a.ts", "gopher://127.0.0.1/a",
        "pipe:0", "unix:/run/x",
    ])
    func `Addresses with other schemes are never opened`(address: String) async throws {
        let bench = try HLSBench()
        let manifest = await bench.prepare(text: "#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:1,\n\(address)\n#EXT-X-ENDLIST\n")
        #expect(
            [.sourceSchemeNotAllowed, .sourceNotFound, .sourceInvalidURL].contains(manifest.error?.code),
            "\(manifest.reasons)")
        await bench.shutdown()
    }

    @Test(arguments: ["#EXT-X-KEY:METHOD=AES-128,URI=\"file:///etc/passwd\"", "#EXT-X-MAP:URI=\"file:///etc/passwd\""])
    func `Nor are those of keys and initialization sections`(tag: String) async throws {
        try await expectRejection(.sourceSchemeNotAllowed, [tag, "#EXTINF:1,", "a.ts", "#EXT-X-ENDLIST"]) { bench in
            bench.server.serve("/a.ts", .body(Data("x".utf8)))
        }
    }

    @Test func `Thousands of entries are download.too_large`() async throws {
        try await expectRejection(.downloadTooLarge, (0..<2_000).flatMap { ["#EXTINF:1,", "\($0)"] })
    }

    @Test func `An endless playlist costs at most 64 KiB`() async throws {
        let bench = try HLSBench()
        let line = Data("#EXTINF:1,\nsegment.ts\n".utf8)
        bench.server.serve("/endless") { _ in
            LoopbackResponse.head(200).then(.send(Data("#EXTM3U\n#EXT-X-VERSION:3\n".utf8)), .sendForever(line))
        }
        let manifest = await bench.prepare(url: bench.server.url("/endless"))
        #expect(manifest.error?.code == .downloadTooLarge)
        #expect(bench.receivedBytes <= 65_536)
        await bench.shutdown()
    }

    @Test func `Playlists that a playlist leads to count together`() async throws {
        let list = "#EXTM3U\n#EXT-X-VERSION:3\n" + String(repeating: "# comment\n", count: 3_000)
        let bench = try HLSBench()
        bench.server.serve("/next", .body(Data(list.utf8)))
        let manifest = await bench.prepare(text: list + "#EXT-X-STREAM-INF:BANDWIDTH=1\nnext\n")
        #expect(manifest.error?.code == .downloadTooLarge, "\(manifest.reasons)")
        #expect(bench.receivedBytes <= 65_536)
        await bench.shutdown()
    }

    @Test(arguments: ["text.m3u8", "other.m3u8"])
    func `A master playlist that leads to one is refused`(uri: String) async throws {
        try await expectRejection(.mediaCorrupt, ["#EXT-X-STREAM-INF:BANDWIDTH=1", uri]) { bench in
            let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\ntext.m3u8\n"
            bench.server.serve("/other.m3u8", .body(Data(text.utf8)))
        }
    }

    @Test func `A playlist whose segment is itself is refused`() async throws {
        try await expectRejection(.mediaCorrupt, ["#EXTINF:1,", "text.m3u8", "#EXT-X-ENDLIST"])
    }

    @Test(arguments: ["<html></html>", "", "#EXTM3U", "G", "\u{0}\u{0}\u{0}\u{18}ftypmp42"])
    func `Segments that are not media are refused`(content: String) async throws {
        try await expectRejection(.mediaCorrupt, ["#EXTINF:1,", "a.ts", "#EXTINF:1,", "a.ts", "#EXT-X-ENDLIST"]) {
            bench in
            bench.server.serve("/a.ts", .body(Data(content.utf8)))
        }
    }

    @Test(arguments: [0, 1, 15, 17, 5_000]) func `A key of another size is refused`(bytes: Int) async throws {
        try await expectRejection(
            .mediaCorrupt, ["#EXT-X-KEY:METHOD=AES-128,URI=\"key\"", "#EXTINF:1,", "a.ts", "#EXT-X-ENDLIST"]
        ) { bench in
            bench.server.serve("/a.ts", .body(Data(repeating: 7, count: 160)))
            bench.server.serve("/key", .body(Data(repeating: 7, count: bytes)))
        }
    }

    @Test func `A wrong key is refused`() async throws {
        try await expectRejection(
            .mediaCorrupt, ["#EXT-X-KEY:METHOD=AES-128,URI=\"key\"", "#EXTINF:1,", "a.ts", "#EXT-X-ENDLIST"]
        ) { bench in
            bench.server.serve("/a.ts", .body(Data(repeating: 7, count: 160)))
            bench.server.serve("/key", .body(Data(repeating: 7, count: 16)))
        }
    }

    @Test func `A key that never arrives ends at the deadline`() async throws {
        let lines = ["#EXT-X-KEY:METHOD=AES-128,URI=\"key\"", "#EXTINF:1,", "a.ts", "#EXT-X-ENDLIST"]
        try await expectRejection(
            .deadlineExceeded, lines,
            served: { bench in
                bench.server.serve("/a.ts", .body(Data(repeating: 7, count: 160)))
                bench.server.serve("/key", LoopbackResponse([.hang]))
            }
        ) { $0.budgetSeconds = 1 }
    }

    @Test(arguments: ["SAMPLE-AES", "SAMPLE-AES-CTR"]) func `Protected segments are media.encrypted`(method: String)
        async throws
    {
        try await expectRejection(
            .mediaEncrypted,
            [
                "#EXT-X-KEY:METHOD=\(method),URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"",
                "#EXTINF:1,", "a.ts",
            ])
    }

    @Test func `A byte range past the end is refused`() async throws {
        try await expectRejection(
            .downloadTruncated, ["#EXTINF:1,", "#EXT-X-BYTERANGE:900@100", "a.ts", "#EXT-X-ENDLIST"]
        ) { $0.server.serve("/a.ts", .body(Data(repeating: 0x47, count: 188))) }
    }

    @Test func `A list of songs is media.unrecognized`() async throws {
        let bench = try HLSBench()
        let manifest = await bench.prepare(text: "#EXTM3U\n#EXTINF:123,Artist - Title\nsong.mp3\n")
        #expect(manifest.error?.code == .mediaUnrecognized)
        #expect(manifest.reasons.first?.contains("link one of its files") == true)
        await bench.shutdown()
    }

    @Test func `Without conversion a playlist is media.unsupported`() async throws {
        try await expectRejection(
            .mediaUnsupported, ["#EXTINF:1,", "a.ts"], served: { _ in }
        ) { $0.unsupported = .reject }
    }

    @Test func `Headers and credentials go to the playlist's origin only`() async throws {
        let bench = try HLSBench()
        let other = try LoopbackServer(address: "127.0.0.2")
        let segment = Data("not media".utf8)
        other.serve("/b.ts", .body(segment))
        bench.server.serve("/a.ts", .body(segment))
        let text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:1,\na.ts\n#EXTINF:1,\n\(other.url("/b.ts"))\n#EXT-X-ENDLIST\n"
        bench.server.serve("/text.m3u8", .body(Data(text.utf8)))
        let url = bench.server.url("/text.m3u8").replacing("http://", with: "http://user:secret@")
        _ = await bench.prepare(url: url) { $0.headers = ["X-Token": "t"] }
        let (own, foreign) = (bench.server.requests(to: "/a.ts").first, other.requests(to: "/b.ts").first)
        #expect(own?.headers["x-token"] == "t" && own?.headers["authorization"]?.hasPrefix("Basic ") == true)
        #expect(foreign != nil && foreign?.headers["x-token"] == nil && foreign?.headers["authorization"] == nil)
        await bench.shutdown()
    }
}
