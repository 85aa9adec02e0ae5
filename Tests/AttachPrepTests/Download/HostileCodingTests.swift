import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// Unrequested content and transfer codings (issue 18): at most one content coding is decoded, within limits.
@Suite(.timeLimit(.minutes(1))) struct HostileCodingTests {
    private static let meow = Data("meow".utf8)
    private static let packed = LoopbackGzip.stored(meow)

    // MARK: Rejected

    @Test(arguments: [
        "gzip, gzip", "gzip, gzip, gzip", "gzip,gzip,gzip,gzip,gzip,gzip,gzip,gzip", "deflate, gzip",
        "aws-chunked, gzip, gzip",
        "br", "BR", "zstd", "compress", "identity, br",
    ])
    func `An unsupported content coding is rejected at the head, without a retry`(coding: String) async throws {
        // After it a gzip header whose file name never ends: layers of it took minutes to decode without any output.
        let name = LoopbackGzip.endlessName(bytes: 65_536)
        let response = LoopbackResponse.lines("Content-Encoding: \(coding)").then(.send(name), .hang)
        let row = HostileResponse(coding, .downloadContentCoding, response)
        #expect(try await DownloadBench().expectFailure(row, within: .seconds(30)).count == 1)
    }

    @Test func `Two Content-Encoding fields count as two codings`() async throws {
        let response = LoopbackResponse.lines("Content-Encoding: gzip", "Content-Encoding: gzip").then(.hang)
        try await DownloadBench().expectFailure(HostileResponse("", .downloadContentCoding, response))
    }

    @Test func `A rejected content coding is not retryable`() async throws {
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
    func `A transfer coding other than chunked is rejected before decompression`(lines: [String]) async throws {
        let head = lines.map { "Transfer-Encoding: \($0)\r\n" }.joined()
        let chunk = LoopbackResponse.chunk(LoopbackGzip.endlessName(bytes: 65_536))
        let response = LoopbackResponse.raw("HTTP/1.1 200 OK\r\n\(head)\r\n").then(.send(chunk), .hang)
        let bench = try DownloadBench()
        let row = HostileResponse("", .downloadContentCoding, response)
        #expect(try await bench.expectFailure(row, within: .seconds(30)).count == 1)
        #expect(try bench.content.isEmpty)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding : gzip, chunked\r\n\r\n",
        "HTTP/1.1 103 Hints\r\nTransfer-Encoding: gzip\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: /x\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 500 No\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    ])
    func `A transfer coding is rejected in every kind of response`(head: String) async throws {
        try await DownloadBench().expectFailure(
            HostileResponse("", .downloadContentCoding, LoopbackResponse.raw(head).then(.hang)))
    }

    @Test(arguments: transferCodings)
    func `A webhook receiver cannot stall the client with a transfer coding`(lines: [String]) async throws {
        let server = try LoopbackServer()
        let head = lines.map { "Transfer-Encoding: \($0)\r\n" }.joined()
        let chunk = LoopbackResponse.chunk(LoopbackGzip.endlessName(bytes: 65_536))
        server.serve("/hook", LoopbackResponse.raw("HTTP/1.1 200 OK\r\n\(head)\r\n").then(.send(chunk), .hang))
        let client = try HTTPClient(networks: [AddressBlock("127.0.0.0/8")])
        let request = HTTPClientRequest(
            .post, server.url("/hook"), responseBytesMax: 1_000, deadline: .now + .seconds(30))
        let error = await #expect(throws: AttachPrepError.self) { _ = try await client.send(request) }
        #expect(error?.code == .downloadContentCoding)
        await client.shutdown()
    }

    // MARK: Decoded

    @Test(arguments: [
        ("gzip", LoopbackGzip.stored(patterned(200_000))), ("x-gzip", LoopbackGzip.stored(patterned(200_000))),
        ("GZIP", LoopbackGzip.stored(patterned(200_000))), ("identity, gzip", LoopbackGzip.stored(patterned(200_000))),
        ("deflate", LoopbackGzip.zlib(patterned(200_000))), ("deflate", LoopbackGzip.bare(patterned(200_000))),
        // RFC 1952, 2.2: consecutive members are one file.
        (
            "gzip",
            LoopbackGzip.stored(patterned(200_000).prefix(9)) + LoopbackGzip.stored(patterned(200_000).dropFirst(9))
        ),
    ])
    func `One content coding is decoded`(coding: String, packed: Data) async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .body(packed, headers: ["Content-Encoding": coding]))
        let bench = try DownloadBench()
        #expect(try await bench.fetch(server.url("/cat")).attempts == 1)
        #expect(try bench.content == patterned(200_000))
    }

    @Test(arguments: [("gzip", packed), ("deflate", LoopbackGzip.zlib(meow)), ("deflate", LoopbackGzip.bare(meow))])
    func `One content coding is decoded when it is received byte by byte`(coding: String, packed: Data) async throws {
        let server = try LoopbackServer()
        let head = LoopbackResponse.head(200, ["Content-Encoding": coding, "Content-Length": "\(packed.count)"])
        server.serve("/cat", head.then(.drip(packed, pauseMilliseconds: 1)))
        let bench = try DownloadBench()
        #expect(try await bench.fetch(server.url("/cat")).attempts == 1)
        #expect(try bench.content == Self.meow)
    }

    @Test(arguments: [
        packed + Data([0]), packed + Data("x".utf8), packed + Data(count: 100), packed + Data([0x1f, 0x8b, 0, 0]),
        packed.dropLast(1) + Data([1]), LoopbackGzip.endlessName(bytes: 10).replacing([8, 8], with: [9, 8]),
    ])
    func `A compressed body with trailing data is kept as sent`(packed: Data) async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .body(packed, headers: ["Content-Encoding": "gzip"]))
        let bench = try DownloadBench()
        #expect(try await bench.fetch(server.url("/cat")).attempts == 2)
        #expect(try bench.content == packed)
    }

    @Test(arguments: [1, 5, 12, 20]) func `A compressed body that ends early is truncated`(bytes: Int) async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .body(Self.packed.prefix(bytes), headers: ["Content-Encoding": "gzip"]))
        let error = try await DownloadBench().failure(of: server.url("/cat"))
        #expect(error.code == .downloadTruncated && error.isRetryable)
    }

    @Test func `An empty body with a content coding is empty`() async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .body(Data(), headers: ["Content-Encoding": "gzip"]))
        #expect(try await DownloadBench().fetch(server.url("/cat")).bytes == 0)
    }

    @Test func `An endless gzip header is rejected`() async throws {
        let name = LoopbackGzip.endlessName(bytes: 65_536)
        let response = LoopbackResponse.lines("Content-Encoding: gzip").then(
            .send(name), .sendForever(Data(count: 0) + name.suffix(60_000)))
        let row = HostileResponse("", .downloadContentCoding, response)
        #expect(try await DownloadBench().expectFailure(row).count == 1)
    }

    @Test func `Endless empty gzip members are rejected`() async throws {
        let empty = LoopbackGzip.stored(Data())
        let members = repeatElement(empty, count: 10_000).reduce(into: Data()) { $0 += $1 }
        let response = LoopbackResponse.lines("Content-Encoding: gzip").then(.sendForever(members))
        try await DownloadBench().expectFailure(HostileResponse("", .downloadContentCoding, response))
    }

    @Test func `A decompression bomb of many members is rejected like one of a single member`() async throws {
        let member = LoopbackGzip.stored(Data(count: 2_000))
        var response = LoopbackResponse.lines("Content-Encoding: gzip")
        response = response.then(.send(member), .send(LoopbackGzip.bomb(unpackedBytes: 80_000_000)))
        let server = try LoopbackServer()
        server.serve("/cat", response.then(.hang))
        let bench = try DownloadBench()
        #expect(try await bench.failure(of: server.url("/cat")).code == .downloadTooLarge)
        #expect(try bench.content.count < 60_000_000)
    }
}
