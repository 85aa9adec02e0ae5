import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// Bodies that change between two ranges: two files are never joined into one.
@Suite(.timeLimit(.minutes(1))) struct HostileRangeTests {
    let server: LoopbackServer
    let bench: DownloadBench
    let body = patterned(20_000)
    private static let date = "Sat, 21 Nov 2026 12:00:00 GMT"

    init() throws {
        server = try LoopbackServer()
        bench = try DownloadBench()
    }

    /// Sends the first 7,000 bytes and breaks the connection, then responds with `second`, after that with the whole
    /// body.
    private func serve(
        _ fields: [String: String] = ["ETag": "\"1\""],
        second: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse
    ) {
        server.serve("/cat") { [body, bench] request in
            switch request.number {
            case 1: .start(of: body, bytes: 7_000, fields).then(.wait(bench.isAt(7_000)), .close)
            case 2: second(request)
            default: .body(body)
            }
        }
    }

    private func expectWhole(_ body: Data, attempts: Int) async throws {
        let file = try await bench.fetch(server.url("/cat"))
        #expect(try bench.content == body)
        #expect(file.bytes == body.count)
        #expect(file.attempts == attempts)
    }

    @Test(arguments: [
        "bytes 7001-19999/20000", "bytes 6999-19998/20000", "bytes 0-12999/20000", "bytes 7000-19999/19999",
        "bytes 7000-20999/21000", "bytes 7000-6999/20000", "bytes 19999-7000/20000", "bytes 7000-20000/20000",
        "bytes -7000-19999/20000", "bytes 7000--1/20000", "bytes 7000-/20000", "bytes 7000/20000", "bytes */20000",
        "bytes 7000-99999999999999999999/99999999999999999999", "items 7000-19999/20000", "bytes=7000-19999/20000",
        "bytes 7000-9999,10000-19999/20000", "7000-19999/20000", "bytes 7000-19999/-1", "bytes 7000-19999", "",
    ])
    func `A mismatched Content-Range restarts the download`(range: String) async throws {
        let rest = body.dropFirst(7_000)
        serve { _ in .status(206, ["Content-Range": range, "ETag": "\"1\""], rest) }
        try await expectWhole(body, attempts: 3)
        #expect(server.requests.map(\.rangeStart) == [nil, 7_000, nil])
    }

    @Test(
        arguments: [
            // Issue 18: computing the offset after `Int.max` crashed the process.
            ("bytes 7000-9223372036854775807/*", nil), ("bytes 7000-9223372036854775807/9223372036854775807", nil),
            ("bytes 7000-9223372036854775806/*", .downloadTooLarge), ("bytes 7000-500000000/*", .downloadTooLarge),
            // Another total than in the first response.
            ("bytes 7000-9223372036854775806/9223372036854775807", nil),
        ] as [(String, ErrorCode?)])
    func `A range that ends beyond every limit is rejected at its head or restarts the download`(
        range: String, code: ErrorCode?
    ) async throws {
        let rest = LoopbackResponse.chunk(Data(body.dropFirst(7_000)))
        serve { _ in
            .head(206, ["Content-Range": range, "ETag": "\"1\"", "Transfer-Encoding": "chunked"]).then(
                .send(rest), .hang)
        }
        guard let code else { return try await expectWhole(body, attempts: 3) }
        #expect(try await bench.failure(of: server.url("/cat")).code == code)
        #expect(server.requests.count == 2)
        #expect(try bench.content.count == 7_000)
    }

    @Test func `An unrequested range of the largest size is rejected`() async throws {
        let head = LoopbackResponse.head(
            206, ["Content-Range": "bytes 0-9223372036854775806/9223372036854775807", "Transfer-Encoding": "chunked"])
        server.serve("/cat", head.then(.send(LoopbackResponse.chunk(body)), .hang))
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadTooLarge)
        #expect(try bench.content.isEmpty)
    }

    @Test func `A 206 without Content-Range restarts the download`() async throws {
        let rest = body.dropFirst(7_000)
        serve { _ in .status(206, [:], rest) }
        try await expectWhole(body, attempts: 3)
    }

    @Test func `Two different Content-Range fields are an error`() async throws {
        let rest = body.dropFirst(7_000)
        serve { _ in
            .lines(
                "Content-Range: bytes 7000-19999/20000", "Content-Range: bytes 0-12999/20000", "Content-Length: 13000",
                status: "206 Part"
            ).then(.send(rest))
        }
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadHTTPStatus)
    }

    @Test func `A multipart range response restarts the download`() async throws {
        serve { _ in
            .status(206, ["Content-Type": "multipart/byteranges; boundary=x"], Data("--x\r\n\r\nmeow\r\n--x--".utf8))
        }
        try await expectWhole(body, attempts: 3)
    }

    @Test(arguments: ["\"2\"", "W/\"1\"", "\"1", "1"])
    func `A range with another ETag restarts the download`(etag: String) async throws {
        let rest = body.dropFirst(7_000)
        serve { _ in .status(206, ["Content-Range": "bytes 7000-19999/20000", "ETag": etag], rest) }
        try await expectWhole(body, attempts: 3)
    }

    @Test func `A range with another date restarts the download`() async throws {
        let rest = body.dropFirst(7_000)
        serve(["Last-Modified": Self.date]) { _ in
            .status(
                206,
                [
                    "Content-Range": "bytes 7000-19999/20000",
                    "Last-Modified": Self.date.replacing("2026", with: "2027"),
                ], rest)
        }
        try await expectWhole(body, attempts: 3)
    }

    @Test func `The same ETag with another length restarts the download`() async throws {
        let rest = Data(body.dropFirst(7_000)) + Data(count: 1_000)
        serve { _ in .status(206, ["Content-Range": "bytes 7000-20999/21000", "ETag": "\"1\""], rest) }
        try await expectWhole(body, attempts: 3)
    }

    @Test func `A compressed range is not appended`() async throws {
        let rest = LoopbackGzip.stored(body.dropFirst(7_000))
        serve { _ in
            .status(206, ["Content-Range": "bytes 7000-19999/20000", "Content-Encoding": "gzip"], rest)
        }
        try await expectWhole(body, attempts: 3)
    }

    @Test func `A range with more bytes than declared never makes the file longer`() async throws {
        let rest = body.dropFirst(7_000) + Data(repeating: 7, count: 5_000)
        serve { _ in
            .lines("Content-Range: bytes 7000-19999/20000", "Content-Length: 18000", status: "206 Part").then(
                .send(rest))
        }
        let result = await Result { try await bench.fetch(server.url("/cat")) }
        #expect(try (try? result.get()) == nil || bench.content == body)
    }

    @Test func `An endless range without a length does not fill the disk`() async throws {
        serve { _ in
            .lines("Content-Range: bytes 7000-19999/20000", status: "206 Part").then(.sendForever(Data(count: 65_536)))
        }
        let result = await Result { try await bench.fetch(server.url("/cat"), bytesMax: 1_000_000) }
        #expect(try (try? result.get()) == nil || bench.content == body)
        #expect(try bench.content.count <= 20_000)
    }

    @Test func `A full response instead of a range replaces the file`() async throws {
        let other = Data(body.reversed())
        serve { _ in .body(other, headers: ["ETag": "\"2\""]) }
        try await expectWhole(other, attempts: 2)
    }

    @Test(arguments: [
        "bytes 0-19998/20000", "bytes 1-19999/20000", "bytes 0-19999/*", "bytes */20000", "multipart", "",
    ])
    func `An unrequested partial response is rejected`(range: String) async throws {
        server.serve("/cat", .status(206, ["Content-Range": range], body))
        let error = try await bench.failure(of: server.url("/cat"))
        #expect(error.code == .downloadHTTPStatus)
        #expect(server.requests.count == 1)
        #expect(try bench.content.isEmpty)
    }

    @Test func `A server that rejects every range ends as truncated`() async throws {
        server.serve("/cat") { [body, bench] request in
            request.rangeStart == nil
                ? .start(of: body, bytes: 7_000, ["ETag": "\"1\""]).then(.wait(bench.isAt(7_000)), .close)
                : .status(416, ["Content-Range": "bytes */20000"])
        }
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadTruncated)
        #expect(server.requests.count == Limits.downloadAttemptsMax)
    }

    @Test func `A file with a new ETag on each attempt restarts each time, and fails`() async throws {
        server.serve("/cat") { [body] request in
            .start(of: body, bytes: 7_000, ["ETag": "\"\(request.number)\""]).then(.close)
        }
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadTruncated)
        #expect(server.requests.count == Limits.downloadAttemptsMax)
    }

    @Test(arguments: [
        "\"a\u{1}b\"", "\"" + String(repeating: "a", count: 600) + "\"", "\"a\rX-Smuggled: b\"", "\"a\u{7f}\"",
    ])
    func `An invalid ETag is not sent back`(etag: String) async throws {
        serve(["ETag": etag]) { [body] _ in .body(body) }
        let result = await Result { try await bench.fetch(server.url("/cat")) }
        #expect(server.requests.allSatisfy { $0.headers["if-range"] == nil && $0.headers["x-smuggled"] == nil })
        #expect(try (try? result.get()) == nil || bench.content == body)
    }
}
