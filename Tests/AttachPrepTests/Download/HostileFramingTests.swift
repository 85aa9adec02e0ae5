import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep

/// Bodies whose length is wrong, endless or ambiguous.
@Suite(.timeLimit(.minutes(1))) struct HostileFramingTests {
    private static let meow = Data("meow".utf8)

    // MARK: Lengths

    @Test(arguments: [
        HostileResponse("negative", .downloadHTTPStatus, .lines("Content-Length: -1").then(.send(meow), .close)),
        HostileResponse("text", .downloadHTTPStatus, .lines("Content-Length: four").then(.send(meow), .close)),
        HostileResponse("empty", .downloadHTTPStatus, .lines("Content-Length:").then(.send(meow), .close)),
        HostileResponse("hexadecimal", .downloadHTTPStatus, .lines("Content-Length: 0x4").then(.send(meow), .close)),
        HostileResponse("with a sign", .downloadHTTPStatus, .lines("Content-Length: +4").then(.send(meow), .close)),
        HostileResponse(
            "two that differ", .downloadHTTPStatus,
            .lines("Content-Length: 4", "Content-Length: 40").then(.send(meow), .close)),
        HostileResponse(
            "two that differ in one field", .downloadHTTPStatus,
            .lines("Content-Length: 4, 40").then(.send(meow), .close)),
        HostileResponse("600 MB", .downloadTooLarge, .lines("Content-Length: 600000000").then(.hang)),
        HostileResponse("the largest number", .downloadTooLarge, .lines("Content-Length: \(Int.max)").then(.hang)),
        HostileResponse(
            "a number that overflows", .downloadTooLarge,
            .lines("Content-Length: \(String(repeating: "9", count: 40))").then(.hang)),
    ])
    func `An invalid or excessive Content-Length is an error at once`(row: HostileResponse) async throws {
        #expect(try await DownloadBench().expectFailure(row).count == 1)
    }

    @Test(arguments: [["Content-Length: 4", "Content-Length: 4"], ["Content-Length: 4, 4"], ["Content-Length: 0004"]])
    func `A repeated or zero-padded Content-Length is accepted`(lines: [String]) async throws {
        let server = try LoopbackServer()
        let head = lines.map { $0 + "\r\n" }.joined()
        server.serve("/cat", .raw("HTTP/1.1 200 OK\r\n\(head)\r\n").then(.send(Self.meow), .hang))
        #expect(try await DownloadBench().fetch(server.url("/cat")).bytes == 4)
    }

    @Test func `Transfer-Encoding takes precedence over Content-Length`() async throws {
        let server = try LoopbackServer()
        let head = LoopbackResponse.lines("Content-Length: 40", "Transfer-Encoding: chunked")
        server.serve("/cat", head.then(.send(Data("4\r\nmeow\r\n0\r\n\r\n".utf8)), .hang))
        let bench = try DownloadBench()
        #expect(try await bench.fetch(server.url("/cat")).bytes == 4)
    }

    @Test func `A body longer than its Content-Length is cut at that length`() async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .lines("Content-Length: 4").then(.sendForever(Data("meow".utf8))))
        let bench = try DownloadBench()
        #expect(try await bench.fetch(server.url("/cat")).bytes == 4)
        #expect(try bench.content == Self.meow)
    }

    // MARK: Chunks

    @Test(arguments: [
        HostileResponse("negative", .downloadTruncated, chunked("-1\r\nmeow\r\n0\r\n\r\n")),
        HostileResponse("no number", .downloadTruncated, chunked("meow\r\n")),
        HostileResponse("a number of 17 digits", .downloadTruncated, chunked("10000000000000000\r\nmeow\r\n")),
        HostileResponse("a number that overflows to -1", .downloadTruncated, chunked("ffffffffffffffff\r\nmeow\r\n")),
        HostileResponse("a chunk longer than its size", .downloadTruncated, chunked("2\r\nmeow\r\n0\r\n\r\n")),
        HostileResponse(
            "a number without end", .downloadTruncated,
            chunked("").then(.sendForever(Data(String(repeating: "0", count: 65_536).utf8)))),
        HostileResponse(
            "a trailer without end", .downloadTruncated,
            chunked("4\r\nmeow\r\n0\r\nX: ").then(.sendForever(Data(String(repeating: "a", count: 65_536).utf8)))),
        HostileResponse(
            "a trailer of 8 MB", .downloadTruncated,
            chunked("4\r\nmeow\r\n0\r\nX: \(String(repeating: "a", count: 8_000_000))\r\n\r\n")),
        HostileResponse(
            "trailers without end", .downloadTooLarge,
            chunked("4\r\nmeow\r\n0\r\n").then(.sendForever(Data(String(repeating: "X: 1\r\n", count: 4_096).utf8)))),
    ])
    func `Invalid chunks and endless trailers are an error`(row: HostileResponse) async throws {
        try await DownloadBench().expectFailure(row)
    }

    @Test(arguments: [
        HostileResponse(
            "an extension without end", .downloadTimeout,
            chunked("4;a=").then(.sendForever(Data(String(repeating: "a", count: 65_536).utf8)))),
        HostileResponse("trailers, byte by byte", .downloadTimeout, drip("4\r\nmeow\r\n0\r\n", "X: 1\r\n")),
        HostileResponse("chunks, byte by byte", .downloadTimeout, drip("", "1\r\na\r\n")),
        HostileResponse("no end", .downloadTimeout, chunked("4\r\nmeow\r\n").then(.hang)),
        HostileResponse("the largest number", .downloadTimeout, chunked("7fffffffffffffff\r\nmeow\r\n").then(.hang)),
    ])
    func `Chunks without progress run into the stall limit`(row: HostileResponse) async throws {
        try await DownloadBench(timeouts: .prompt(stall: .milliseconds(80))).expectFailure(row)
    }

    @Test func `A body that is sent byte by byte runs into the stall limit`() async throws {
        let row = HostileResponse(
            "", .downloadTimeout,
            .lines("Content-Length: 100000").then(
                .drip(Data(count: 100_000), pauseMilliseconds: 1)))
        try await DownloadBench(timeouts: .prompt(stall: .milliseconds(80))).expectFailure(row)
    }

    @Test func `Short trailers are ignored`() async throws {
        let server = try LoopbackServer()
        server.serve("/cat", Self.chunked("4;a=b\r\nmeow\r\n0\r\nContent-Length: 1\r\nLocation: /x\r\n\r\n"))
        #expect(try await DownloadBench().fetch(server.url("/cat")).bytes == 4)
        #expect(server.requests.count == 1)
    }

    private static func chunked(_ text: String) -> LoopbackResponse {
        .lines("Transfer-Encoding: chunked").then(.send(Data(text.utf8)))
    }

    private static func drip(_ start: String, _ piece: String) -> LoopbackResponse {
        chunked(start).then(.drip(Data(String(repeating: piece, count: 10_000).utf8), pauseMilliseconds: 1))
    }

    // MARK: Encodings

    @Test func `A decompression bomb in an unrequested encoding is not decompressed`() async throws {
        let bench = try DownloadBench()
        let server = try LoopbackServer()
        // A ratio of 158.
        server.serve(
            "/cat", .body(LoopbackGzip.bomb(unpackedBytes: 80_000_000), headers: ["Content-Encoding": "gzip"]))
        let error = try await bench.failure(of: server.url("/cat"))
        #expect(error.code == .downloadTooLarge)
        // The first chunk that is read may be decoded up to its own limit.
        #expect(try bench.content.count < 10_000_000)
    }

    @Test func `A small result is decompressed whatever its compression ratio`() async throws {
        let zeros = Data(count: 258 * 3_000)
        let server = try LoopbackServer()
        server.serve("/cat", .body(LoopbackGzip.stored(zeros), headers: ["Content-Encoding": "gzip"]))
        #expect(try await DownloadBench().fetch(server.url("/cat")).bytes == zeros.count)
    }
}

extension Result where Failure == any Error {
    /// Captures what an async body returns or throws.
    init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
