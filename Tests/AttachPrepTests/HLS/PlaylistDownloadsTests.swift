import AttachPrepModel
import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

/// What a playlist leads to is downloaded by the rules for sources.
@Suite(.timeLimit(.minutes(1))) struct PlaylistDownloadsTests {
    private let server: LoopbackServer
    private let other: LoopbackServer
    private let bench: DownloadBench
    private let staging: StagingFolder
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        other = try LoopbackServer(address: "127.0.0.2")
        folder = try TemporaryFolder()
        staging = try StagingFolder(output: folder.path)
        // 127.0.0.2 stays blocked.
        bench = try DownloadBench(exempt: [try #require(IPAddress("127.0.0.1"))])
    }

    private func downloads(playlistBytes: Int = 0) throws -> PlaylistDownloads {
        try PlaylistDownloads(
            AttachmentRequest(source: server.url("/list.m3u8")), downloader: bench.downloader,
            deadline: .now + .seconds(30), playlistBytes: playlistBytes)
    }

    private var base: WebAddress { get throws { try WebAddress(server.url("/list.m3u8")) } }

    @Test func `Segments are appended to one file, whole or in part`() async throws {
        server.serve("/a", .body(Data("first".utf8)))
        server.serve("/b") { request in
            request.headers["range"] == "bytes=2-4"
                ? .status(206, ["Content-Range": "bytes 2-4/9"], Data("con".utf8)) : .status(400)
        }
        server.serve("/c", .body(Data("012345".utf8)))
        var downloads = try downloads()
        let file = try SegmentFile(staging)
        let parts = [
            try await downloads.append("a", nil, at: base, to: file),
            try await downloads.append("b", ResourceRange(offset: 2, length: 3), at: base, to: file),
            try await downloads.append("c", ResourceRange(offset: 1, length: 4), at: base, to: file),
        ]
        #expect(parts.map(\.offset) == [0, 5, 9] && parts.map(\.bytes) == [5, 3, 4])
        var bytes = [UInt8](repeating: 0, count: 14)
        #expect(pread(file.reading, &bytes, 14, 0) == 14)
        #expect(String(decoding: bytes, as: UTF8.self) == "firstcon012345")
    }

    @Test func `A body that starts over keeps what is in front of it`() async throws {
        server.serve("/a", .body(Data("first".utf8)))
        let whole = Data("second".utf8)
        server.serve("/b", inTurn: [.start(of: whole, bytes: 3).then(.close), .body(whole)])
        var downloads = try downloads()
        let file = try SegmentFile(staging)
        _ = try await downloads.append("a", nil, at: base, to: file)
        let part = try await downloads.append("b", nil, at: base, to: file)
        #expect(part.offset == 5 && part.bytes == 6 && file.bytes == 11)
        var bytes = [UInt8](repeating: 0, count: 11)
        #expect(pread(file.reading, &bytes, 11, 0) == 11)
        #expect(String(decoding: bytes, as: UTF8.self) == "firstsecond")
    }

    @Test(arguments: ["http://127.0.0.2:PORT/a", "//127.0.0.2:PORT/a", "/redirect"])
    func `Blocked addresses get no request`(uri: String) async throws {
        let uri = uri.replacing("PORT", with: "\(other.port)")
        server.serve("/redirect", .redirect(other.url("/a")))
        var downloads = try downloads()
        let file = try SegmentFile(staging)
        let error = await #expect(throws: AttachPrepError.self) {
            _ = try await downloads.append(uri, nil, at: base, to: file)
        }
        #expect(error?.code == .sourceAddressBlocked)
        #expect(other.connectionCount == 0)
    }

    @Test func `Playlists share one limit`() async throws {
        server.serve("/next", .body(Data(repeating: 0x23, count: 100)))
        var downloads = try downloads(playlistBytes: Limits.playlistBytesMax - 150)
        _ = try await downloads.playlist("next", at: base, file: bench.descriptor)
        let error = await #expect(throws: AttachPrepError.self) {
            _ = try await downloads.playlist("next", at: base, file: bench.descriptor)
        }
        #expect(error?.code == .downloadTooLarge)
    }

    @Test(arguments: [
        ("bytes 1-3/9", "con"), ("bytes 2-4/9", "cont"), ("bytes 2-5/9", "cont"), ("bytes 0-8/9", "012345678"),
        ("", "con"),
    ])
    func `Another range than requested is refused`(range: String, body: String) async throws {
        server.serve("/b", .status(206, range.isEmpty ? [:] : ["Content-Range": range], Data(body.utf8)))
        var downloads = try downloads()
        let file = try SegmentFile(staging)
        await #expect(throws: AttachPrepError.self) {
            _ = try await downloads.append("b", ResourceRange(offset: 2, length: 3), at: base, to: file)
        }
    }

    @Test func `A key is downloaded once`() async throws {
        server.serve("/key", .body(Data(0..<16)))
        var downloads = try downloads()
        #expect(try await downloads.key("key", at: base, file: bench.descriptor) == 0)
        #expect(try await downloads.key("/key", at: base, file: bench.descriptor) == 0)
        #expect(downloads.keys == [Array(0..<16)] && server.requests.count == 1)
    }
}
