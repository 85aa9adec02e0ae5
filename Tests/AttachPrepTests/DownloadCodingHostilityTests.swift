import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

/// Bodies packed in ways that nobody asked for (issue 18): at most one coding is taken off, by us, within limits.
@Suite(.timeLimit(.minutes(1))) struct DownloadCodingHostilityTests {
    private static let meow = Data("meow".utf8)
    private static let packed = LoopbackGzip.stored(meow)

    // MARK: Refused at the head

    @Test(arguments: [
        "gzip, gzip", "gzip, gzip, gzip", "gzip,gzip,gzip,gzip,gzip,gzip,gzip,gzip", "deflate, gzip",
        "aws-chunked, gzip",
        "br", "BR", "zstd", "compress", "identity, br",
    ])
    func `A content coding that is not unpacked is refused at the head, once`(coding: String) async throws {
        // Behind it a gzip header whose file name never ends: layers of that unpacked for minutes without a byte.
        let name = LoopbackGzip.endlessName(bytes: 65_536)
        let answer = LoopbackAnswer.lines("Content-Encoding: \(coding)").then(.send(name), .hang)
        let row = HostileAnswer(coding, .downloadContentCoding, answer)
        #expect(try await DownloadBench().expectFailure(row, within: .seconds(30)).count == 1)
    }

    @Test func `Two fields of one coding each are two codings`() async throws {
        let answer = LoopbackAnswer.lines("Content-Encoding: gzip", "Content-Encoding: gzip").then(.hang)
        try await DownloadBench().expectFailure(HostileAnswer("", .downloadContentCoding, answer))
    }

    @Test func `What is refused for its coding is not worth another try`() async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .body(Self.packed, headers: ["Content-Encoding": "gzip, gzip"]))
        let bench = try DownloadBench()
        #expect(try await bench.failure(of: server.url("/cat")).isRetryable == false)
        #expect(try bench.content.isEmpty)
    }

    static let transferCodings = [
        ["gzip, gzip, chunked"], ["gzip, chunked"], ["gzip"], ["deflate"], ["br, chunked"], ["identity"], [""],
        ["chunked, gzip"], ["chunked, chunked"], ["chunked", "chunked"], ["chunked", "gzip"], ["x"],
        ["chunked\r\n gzip"], ["\r\n gzip"], ["chunked;a=b"], ["chun\u{212A}ed"],
        ["gzip, gzip, gzip, gzip, gzip, gzip, chunked"],
    ]

    @Test(arguments: transferCodings)
    func `A transfer coding other than chunked is refused before a byte is unpacked`(lines: [String]) async throws {
        let head = lines.map { "Transfer-Encoding: \($0)\r\n" }.joined()
        let chunk = LoopbackAnswer.chunk(LoopbackGzip.endlessName(bytes: 65_536))
        let answer = LoopbackAnswer.raw("HTTP/1.1 200 OK\r\n\(head)\r\n").then(.send(chunk), .hang)
        let bench = try DownloadBench()
        let row = HostileAnswer("", .downloadContentCoding, answer)
        #expect(try await bench.expectFailure(row, within: .seconds(30)).count == 1)
        #expect(try bench.content.isEmpty)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding : gzip, chunked\r\n\r\n",
        "HTTP/1.1 103 Hints\r\nTransfer-Encoding: gzip\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: /x\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 500 No\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    ])
    func `A transfer coding is refused in every kind of answer`(head: String) async throws {
        try await DownloadBench().expectFailure(
            HostileAnswer("", .downloadContentCoding, LoopbackAnswer.raw(head).then(.hang)))
    }

    @Test(arguments: transferCodings)
    func `A receiver of webhooks cannot hold the sender by a transfer coding`(lines: [String]) async throws {
        let server = try LoopbackServer()
        let head = lines.map { "Transfer-Encoding: \($0)\r\n" }.joined()
        let chunk = LoopbackAnswer.chunk(LoopbackGzip.endlessName(bytes: 65_536))
        server.serve("/hook", LoopbackAnswer.raw("HTTP/1.1 200 OK\r\n\(head)\r\n").then(.send(chunk), .hang))
        let sender = try HTTPClient(networks: [AddressBlock("127.0.0.0/8")])
        let call = HTTPClientRequest(.post, server.url("/hook"), answerBytesMax: 1_000, deadline: .now + .seconds(30))
        let error = await #expect(throws: AttachPrepError.self) { _ = try await sender.send(call) }
        #expect(error?.code == .downloadContentCoding)
        await sender.shutdown()
    }

    // MARK: Taken off by us

    @Test(arguments: [
        ("gzip", LoopbackGzip.stored(patterned(200_000))), ("x-gzip", LoopbackGzip.stored(patterned(200_000))),
        ("GZIP", LoopbackGzip.stored(patterned(200_000))), ("identity, gzip", LoopbackGzip.stored(patterned(200_000))),
        ("deflate", LoopbackGzip.zlib(patterned(200_000))), ("deflate", LoopbackGzip.bare(patterned(200_000))),
        // RFC 1952, 2.2: members one behind the other are one file.
        (
            "gzip",
            LoopbackGzip.stored(patterned(200_000).prefix(9)) + LoopbackGzip.stored(patterned(200_000).dropFirst(9))
        ),
    ])
    func `One coding is taken off`(coding: String, packed: Data) async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .body(packed, headers: ["Content-Encoding": coding]))
        let bench = try DownloadBench()
        #expect(try await bench.fetch(server.url("/cat")).attempts == 1)
        #expect(try bench.content == patterned(200_000))
    }

    @Test(arguments: [("gzip", packed), ("deflate", LoopbackGzip.zlib(meow)), ("deflate", LoopbackGzip.bare(meow))])
    func `One coding is taken off byte by byte`(coding: String, packed: Data) async throws {
        let server = try LoopbackServer()
        let head = LoopbackAnswer.head(200, ["Content-Encoding": coding, "Content-Length": "\(packed.count)"])
        server.serve("/cat", head.then(.drip(packed, pauseMilliseconds: 1)))
        let bench = try DownloadBench()
        #expect(try await bench.fetch(server.url("/cat")).attempts == 1)
        #expect(try bench.content == Self.meow)
    }

    @Test(arguments: [
        packed + Data([0]), packed + Data("x".utf8), packed + Data(count: 100), packed + Data([0x1f, 0x8b, 0, 0]),
        packed.dropLast(1) + Data([1]), LoopbackGzip.endlessName(bytes: 10).replacing([8, 8], with: [9, 8]),
    ])
    func `A packed body with something else behind it is taken as it is`(packed: Data) async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .body(packed, headers: ["Content-Encoding": "gzip"]))
        let bench = try DownloadBench()
        #expect(try await bench.fetch(server.url("/cat")).attempts == 2)
        #expect(try bench.content == packed)
    }

    @Test(arguments: [1, 5, 12, 20]) func `A packed body that stops in the middle is truncated`(bytes: Int) async throws
    {
        let server = try LoopbackServer()
        server.serve("/cat", .body(Self.packed.prefix(bytes), headers: ["Content-Encoding": "gzip"]))
        let error = try await DownloadBench().failure(of: server.url("/cat"))
        #expect(error.code == .downloadTruncated && error.isRetryable)
    }

    @Test func `An empty body is empty in every coding`() async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .body(Data(), headers: ["Content-Encoding": "gzip"]))
        #expect(try await DownloadBench().fetch(server.url("/cat")).bytes == 0)
    }

    @Test func `A gzip header that never ends is work that brings nothing`() async throws {
        let name = LoopbackGzip.endlessName(bytes: 65_536)
        let answer = LoopbackAnswer.lines("Content-Encoding: gzip").then(
            .send(name), .sendForever(Data(count: 0) + name.suffix(60_000)))
        let row = HostileAnswer("", .downloadContentCoding, answer)
        #expect(try await DownloadBench().expectFailure(row).count == 1)
    }

    @Test func `Empty members without end are work that brings nothing`() async throws {
        let empty = LoopbackGzip.stored(Data())
        let members = repeatElement(empty, count: 10_000).reduce(into: Data()) { $0 += $1 }
        let answer = LoopbackAnswer.lines("Content-Encoding: gzip").then(.sendForever(members))
        try await DownloadBench().expectFailure(HostileAnswer("", .downloadContentCoding, answer))
    }

    @Test func `A bomb of many members ends as one of a single one does`() async throws {
        let member = LoopbackGzip.stored(Data(count: 2_000))
        var answer = LoopbackAnswer.lines("Content-Encoding: gzip")
        answer = answer.then(.send(member), .send(LoopbackGzip.bomb(unpackedBytes: 80_000_000)))
        let server = try LoopbackServer()
        server.serve("/cat", answer.then(.hang))
        let bench = try DownloadBench()
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadTooLarge)
        #expect(try bench.content.count < 60_000_000)
    }
}
