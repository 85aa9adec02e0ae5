import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// Hostile HTTP/2 servers: handmade frames over TLS.
@Suite(.timeLimit(.minutes(1)), .serialized) struct HostileHTTP2Tests {
    typealias HTTP2 = LoopbackHTTP2

    /// Started once, since it takes longer than the tests.
    private static let shared = Result {
        let server = try LoopbackServer()
        return (server, try TLSRelay(to: server, protocols: ["h2"]))
    }

    let server: LoopbackServer
    let relay: TLSRelay
    private let body = patterned(20_000)

    init() throws {
        (server, relay) = try Self.shared.get()
        server.reset()
    }

    private func bench(_ timeouts: DownloadTimeouts = .prompt) throws -> DownloadBench {
        let authority = try TestCertificates.shared.authorityFile
        return try DownloadBench(policy: DownloadPolicy(certificateAuthorityFile: authority), timeouts: timeouts)
    }

    private func failure(
        _ steps: LoopbackResponse.Step..., timeouts: DownloadTimeouts = .prompt(firstByte: .seconds(2))
    ) async throws -> AttachPrepError {
        server.serve("*", HTTP2.conversation(steps))
        return try await bench(timeouts).failure(of: relay.url("/cat"))
    }

    // MARK: Valid frames

    @Test func `Valid frames make a complete file`() async throws {
        server.serve(
            "*",
            HTTP2.conversation([
                .send(HTTP2.head([("content-type", "image/jpeg"), ("content-length", "20000")])),
                .send(HTTP2.data(body.prefix(16_000))), .send(HTTP2.data(body.dropFirst(16_000), isLast: true)), .hang,
            ]))
        let bench = try bench()
        let file = try await bench.fetch(relay.url("/cat"))
        #expect(file.httpVersion == "2")
        #expect(try bench.content == body)
    }

    @Test func `A body after a 304 is not stored`() async throws {
        let steps: [LoopbackResponse.Step] = [
            .send(HTTP2.head([("etag", "\"1\"")], status: 304)), .sendForever(HTTP2.data(Data(count: 9_000))),
        ]
        server.serve("*", HTTP2.conversation(steps))
        let bench = try bench()
        var request = DownloadRequest(url: relay.url("/cat"), deadline: .now + .seconds(60))
        request.validators = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        let error = await #expect(throws: (any Error).self) {
            try await bench.downloader.download(request, into: bench.descriptor) { _, _ in .anything }
        }
        // The frames violate the protocol; libcurl discards a head that arrives in one piece with them.
        #expect(
            error is UnchangedSourceError || (error as? AttachPrepError)?.code == .downloadConnect, "\(error as Any)")
        #expect(try bench.content.isEmpty)
    }

    // MARK: Resets

    @Test(arguments: [1, 2, 3, 5, 8, 11] as [UInt32])
    func `A stream reset before its head is a failed connection`(code: UInt32) async throws {
        let error = try await failure(.send(HTTP2.reset(code)), .hang)
        #expect(error.code == .downloadConnect, "\(error)")
        #expect(server.requests.count <= Limits.downloadAttemptsMax)
    }

    @Test func `A server that requires HTTP/1.1 gets an HTTP/1.1 request`() async throws {
        server.serve("*", HTTP2.conversation([.send(HTTP2.reset(13)), .hang]))
        server.serve("/cat", .body(body))
        #expect(try await bench().fetch(relay.url("/cat")).bytes == body.count)
    }

    @Test func `A stream that is refused every time is a failed connection`() async throws {
        let error = try await failure(.send(HTTP2.reset(7)), .hang)
        #expect(error.code == .downloadConnect, "\(error)")
        #expect(server.requests.count <= 40)
    }

    @Test(arguments: [0, 2, 8] as [UInt32])
    func `A stream reset in the body is a truncated download`(code: UInt32) async throws {
        // libcurl discards what it has read when the reset arrives with it.
        let bench = try bench()
        let head = HTTP2.head([("content-length", "20000")]) + HTTP2.data(body.prefix(10_000))
        server.serve(
            "*", HTTP2.conversation([.send(head), .wait(bench.isAt(10_000)), .send(HTTP2.reset(code)), .hang]))
        let error = try await bench.failure(of: relay.url("/cat"))
        // A later attempt may receive both at once.
        #expect([.downloadTruncated, .downloadConnect].contains(error.code), "\(error)")
    }

    @Test func `A body interrupted by a stream reset is resumed`() async throws {
        let (body, bench) = (body, try bench())
        server.serve("*") { request in
            let fields = [("content-length", "20000"), ("etag", "\"1\"")]
            let first = HTTP2.head(fields) + HTTP2.data(body.prefix(10_000))
            let range = [("content-range", "bytes 10000-19999/20000"), ("etag", "\"1\"")]
            let second = HTTP2.head(range, status: 206) + HTTP2.data(body.dropFirst(10_000), isLast: true)
            guard request.number == 1 else { return HTTP2.conversation([.send(second), .hang]) }
            return HTTP2.conversation([.send(first), .wait(bench.isAt(10_000)), .send(HTTP2.reset(2)), .hang])
        }
        try await bench.fetch(relay.url("/cat"))
        #expect(try bench.content == body)
        #expect(Set(server.requests.map(\.connection)).count == 2)
    }

    @Test(arguments: [0, 1, 11] as [UInt32])
    func `A GOAWAY in the body is a truncated download`(code: UInt32) async throws {
        let bench = try bench()
        let head = HTTP2.head([("content-length", "20000")]) + HTTP2.data(body.prefix(10_000))
        server.serve(
            "*",
            HTTP2.conversation([
                .send(head), .wait(bench.isAt(10_000)), .send(HTTP2.goAway(last: 1, code)), .close,
            ]))
        let error = try await bench.failure(of: relay.url("/cat"))
        // libcurl reports a GOAWAY that arrives in one piece with the head before the head.
        #expect([.downloadTruncated, .downloadConnect].contains(error.code), "\(error)")
    }

    @Test func `A GOAWAY before the head is a failed connection`() async throws {
        let error = try await failure(.send(HTTP2.goAway(last: 0, 0)), .close)
        #expect(error.code == .downloadConnect, "\(error)")
    }

    // MARK: Lengths

    @Test func `A body shorter than its Content-Length is a truncated download`() async throws {
        let bench = try bench()
        let head = HTTP2.head([("content-length", "20000")]) + HTTP2.data(body.prefix(10_000))
        server.serve(
            "*",
            HTTP2.conversation([.send(head), .wait(bench.isAt(10_000)), .send(HTTP2.data(Data(), isLast: true)), .hang])
        )
        let error = try await bench.failure(of: relay.url("/cat"))
        #expect([.downloadTruncated, .downloadConnect].contains(error.code), "\(error)")
    }

    @Test func `A body longer than its Content-Length never makes the file longer`() async throws {
        let bench = try bench()
        server.serve(
            "*",
            HTTP2.conversation([
                .send(HTTP2.head([("content-length", "10")]) + HTTP2.data(body.prefix(10_000), isLast: true)), .hang,
            ]))
        _ = await Result { try await bench.fetch(relay.url("/cat")) }
        #expect(try bench.content.count <= 10)
    }

    @Test func `An endless body is cut at the size limit`() async throws {
        server.serve(
            "*", HTTP2.conversation([.send(HTTP2.head()), .sendForever(HTTP2.data(Data(count: 16_384)))]))
        let bench = try bench()
        let error = try await bench.failure(of: relay.url("/cat"), bytesMax: 200_000)
        // Our limit, if the window allows so many bytes; otherwise the end of the stream.
        #expect([.downloadTooLarge, .downloadTruncated].contains(error.code), "\(error)")
        #expect(try bench.content.count <= 200_000)
    }

    @Test func `Two different Content-Length fields are an error`() async throws {
        let error = try await failure(
            .send(
                HTTP2.head([("content-length", "10"), ("content-length", "20")])
                    + HTTP2.data(body.prefix(10), isLast: true)), .hang)
        #expect([.downloadHTTPStatus, .downloadConnect].contains(error.code), "\(error)")
    }

    // MARK: Floods

    @Test func `An endless head of CONTINUATION frames is cut off`() async throws {
        let piece = HTTP2.block((0..<100).map { ("x-\($0)", String(repeating: "a", count: 100)) })
        let error = try await failure(
            .send(HTTP2.frame(.headers, HTTP2.block([(":status", "200")]))),
            .sendForever(HTTP2.frame(.continuation, piece)))
        #expect([.downloadTooLarge, .downloadConnect].contains(error.code), "\(error)")
    }

    @Test func `Endless empty CONTINUATION frames are cut off`() async throws {
        let error = try await failure(
            .send(HTTP2.frame(.headers, HTTP2.block([(":status", "200")]))), .sendForever(HTTP2.frame(.continuation)),
            timeouts: .prompt(firstByte: .milliseconds(300)))
        #expect([.downloadTooLarge, .downloadConnect, .downloadTimeout].contains(error.code), "\(error)")
    }

    @Test func `An HPACK bomb that repeats one indexed field is cut off`() async throws {
        // One field of 3,900 bytes is indexed; each further byte refers to it again.
        var block = HTTP2.block([(":status", "200")])
        block += Data([0x40]) + HTTP2.block([("x-bomb", String(repeating: "a", count: 3_900))]).dropFirst()
        block += Data(repeating: 0x80 | 62, count: 16_000 - block.count)
        let error = try await failure(.send(HTTP2.frame(.headers, flags: HTTP2.endHeaders, block)), .hang)
        #expect([.downloadTooLarge, .downloadConnect].contains(error.code), "\(error)")
    }

    @Test func `Endless informational heads are cut off`() async throws {
        let error = try await failure(.sendForever(HTTP2.head([("x", "a")], status: 103)))
        #expect([.downloadTooLarge, .downloadConnect].contains(error.code), "\(error)")
    }

    @Test(arguments: [HTTP2.Kind.ping, .settings, .priority, .windowUpdate])
    func `A frame flood ends its connection and does not block other downloads`(kind: HTTP2.Kind) async throws {
        let payload = [.ping: Data(count: 8), .priority: Data(count: 5), .windowUpdate: Data([0, 0, 0, 1])][kind]
        let frame = HTTP2.frame(kind, stream: kind == .priority ? 1 : 0, payload ?? Data())
        let flood = repeatElement(frame, count: 1_000).reduce(into: Data()) { $0 += $1 }
        server.serve("*", HTTP2.conversation([.sendForever(flood)]))
        let neighbor = try LoopbackServer()
        neighbor.serve("/cat", .body(body))
        let (bench, url) = (try bench(), relay.url("/cat"))
        let flooded = Task { try await bench.failure(of: url, within: .seconds(30)) }
        await server.until { $0.requests.count > 0 }
        // The same downloader, another file.
        let other = try DownloadBench()
        let request = DownloadRequest(url: neighbor.url("/cat"), deadline: .now + .seconds(20))
        let file = try await bench.downloader.download(request, into: other.descriptor) { _, _ in .anything }
        #expect(file.bytes == body.count)
        let error = try await flooded.value
        #expect([.downloadConnect, .downloadTimeout].contains(error.code), "\(error)")
    }

    @Test func `Endless empty DATA frames run into the stall limit`() async throws {
        let error = try await failure(
            .send(HTTP2.head()), .sendForever(HTTP2.data(Data())), timeouts: .prompt(stall: .milliseconds(200)))
        #expect([.downloadTimeout, .downloadTruncated].contains(error.code), "\(error)")
    }

    @Test func `Endless padding runs into the stall limit`() async throws {
        let padded = HTTP2.frame(.data, flags: 0x8, Data([255]) + Data(count: 255))
        let error = try await failure(
            .send(HTTP2.head()), .sendForever(padded), timeouts: .prompt(stall: .milliseconds(200)))
        #expect([.downloadTimeout, .downloadTruncated].contains(error.code), "\(error)")
    }

    // MARK: Silence

    @Test func `A zero-size window without a response is a timeout`() async throws {
        let closed = Data([0, 4, 0, 0, 0, 0])
        server.serve("*", HTTP2.conversation(settings: closed, [.hang]))
        let error = try await bench(.prompt(firstByte: .milliseconds(100))).failure(of: relay.url("/cat"))
        #expect(error.code == .downloadTimeout, "\(error)")
    }

    @Test func `A connection that allows no streams fails`() async throws {
        let none = Data([0, 3, 0, 0, 0, 0])
        server.serve("*", LoopbackResponse([.send(HTTP2.frame(.settings, stream: 0, none)), .hang]))
        let timeouts = DownloadTimeouts.prompt(connect: .seconds(2), firstByte: .milliseconds(100))
        let error = try await bench(timeouts).failure(of: relay.url("/cat"))
        #expect([.downloadTimeout, .downloadConnect].contains(error.code), "\(error)")
    }

    @Test func `A head followed by silence is a timeout`() async throws {
        let error = try await failure(.send(HTTP2.head()), .hang, timeouts: .prompt(stall: .milliseconds(100)))
        #expect(error.code == .downloadTimeout, "\(error)")
    }

    // MARK: Protocol violations

    /// Created on each access: the leak sanitizer does not see bytes held only by a static table.
    private static var broken: [(String, Data)] {
        [
            ("a frame that is too large", HTTP2.frame(.data, Data(count: 20_000))),
            ("a frame that declares 16 MB", HTTP2.frame(.headers, Data(count: 100), declaring: 0xff_ffff)),
            ("a body before the head", HTTP2.data(Data(count: 10))),
            ("a stream that was not opened", HTTP2.frame(.data, stream: 7, Data(count: 10))),
            ("an even stream", HTTP2.frame(.headers, flags: 4, stream: 2, HTTP2.block([(":status", "200")]))),
            ("stream 0 with a head", HTTP2.frame(.headers, flags: 4, stream: 0, HTTP2.block([(":status", "200")]))),
            ("a continuation without a head", HTTP2.frame(.continuation, HTTP2.block([("x", "a")]))),
            ("a missing table entry", HTTP2.frame(.headers, flags: 4, Data([0xff, 0xff, 0xff, 0x7f]))),
            ("a head without a status", HTTP2.frame(.headers, flags: 4, HTTP2.block([("x", "a")]))),
            ("two statuses", HTTP2.frame(.headers, flags: 4, HTTP2.block([(":status", "200"), (":status", "302")]))),
            ("a status that is not a number", HTTP2.frame(.headers, flags: 4, HTTP2.block([(":status", "good")]))),
            ("a line break in a field", HTTP2.head([("x", "a\r\nLocation: /b")])),
            ("a zero byte in a field", HTTP2.head([("x", "a\0b")])),
            ("settings of a wrong size", HTTP2.frame(.settings, stream: 0, Data(count: 5))),
            ("a window that overflows", HTTP2.frame(.windowUpdate, HTTP2.bigEndian(0x7fff_ffff))),
            ("a window update of 0", HTTP2.frame(.windowUpdate, HTTP2.bigEndian(0))),
            ("HTTP/1.1", Data("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmeow".utf8)),
            ("garbage", Data((0..<2_000).map { UInt8(truncatingIfNeeded: $0 &* 197) })),
            (
                "a pushed response",
                HTTP2.frame(
                    .push, flags: 4,
                    HTTP2.bigEndian(2)
                        + HTTP2.block([(":method", "GET"), (":path", "/x"), (":scheme", "https"), (":authority", "h")]))
            ),
        ]
    }

    @Test(arguments: Self.broken.indices)
    func `Frames that violate the protocol are an error`(index: Int) async throws {
        let error = try await failure(
            .send(Self.broken[index].1), .hang, timeouts: .prompt(firstByte: .milliseconds(100)))
        #expect(
            [.downloadConnect, .downloadTimeout, .downloadHTTPStatus, .downloadTruncated].contains(error.code),
            "\(Self.broken[index].0): \(error)")
    }

    @Test func `After a broken connection the retry uses a new one`() async throws {
        server.serve("*") { request in
            let whole = HTTP2.head() + HTTP2.data(patterned(100), isLast: true)
            return HTTP2.conversation([.send(request.number == 1 ? Self.broken[0].1 : whole), .hang])
        }
        #expect(try await bench().fetch(relay.url("/cat")).bytes == 100)
    }
}
