import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// Conditional requests: whether a file is still the one downloaded before.
@Suite(.timeLimit(.minutes(1))) struct ConditionalDownloadTests {
    let server: LoopbackServer
    let other: LoopbackServer
    let bench: DownloadBench

    init() throws {
        server = try LoopbackServer()
        other = try LoopbackServer()
        bench = try DownloadBench()
    }

    /// Responds 304 to a matching `If-None-Match`, otherwise with the file.
    private func serve(_ path: String, tag: String, on server: LoopbackServer, _ headers: [String: String] = [:]) {
        server.serve(path) { request in
            let headers = headers.merging(["ETag": tag]) { own, _ in own }
            return request.headers["if-none-match"] == tag
                ? .head(304, headers) : .body(Data("meow".utf8), headers: headers)
        }
    }

    private func fetch(
        _ url: String, headers: [(name: String, value: String)] = [], knowing validators: SourceValidators?
    ) async throws -> DownloadedFile {
        var request = DownloadRequest(url: url, headers: headers, deadline: .now + .seconds(60))
        request.validators = validators
        return try await bench.downloader.download(request, into: bench.descriptor) { _, _ in .anything }
    }

    /// The freshness in a 304 response; fails when a file was sent.
    private func unchanged(_ url: String, knowing validators: SourceValidators?) async throws -> SourceFreshness {
        try #require(
            await #expect(throws: UnchangedSourceError.self) { _ = try await fetch(url, knowing: validators) }
        ).freshness
    }

    @Test func `An unchanged file is not downloaded again`() async throws {
        serve("/cat", tag: "\"1\"", on: server, ["Cache-Control": "max-age=60"])
        let first = try await fetch(server.url("/cat"), knowing: nil)
        #expect(first.freshness.validators?.entityTag == "\"1\"")
        #expect(first.freshness.freshUntil.map { $0 > .now } == true)
        let again = try await unchanged(server.url("/cat"), knowing: first.freshness.validators)
        #expect(again.validators == first.freshness.validators)
        #expect(again.freshUntil.map { $0 > .now } == true)
        #expect(server.connectionCount == 1)
    }

    @Test func `A changed file is downloaded at once, with its new validators`() async throws {
        serve("/cat", tag: "\"1\"", on: server)
        let first = try await fetch(server.url("/cat"), knowing: nil)
        serve("/cat", tag: "\"2\"", on: server)
        let second = try await fetch(server.url("/cat"), knowing: first.freshness.validators)
        #expect(second.freshness.validators?.entityTag == "\"2\"")
        #expect(server.requests.count == 2)
    }

    @Test func `Without an ETag, Last-Modified is used, and a 304 may have no headers`() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        server.serve("/cat") { request in
            request.headers["if-modified-since"] == date
                ? .head(304) : .body(Data("meow".utf8), headers: ["Last-Modified": date])
        }
        let first = try await fetch(server.url("/cat"), knowing: nil)
        let again = try await unchanged(server.url("/cat"), knowing: first.freshness.validators)
        #expect(again.validators == first.freshness.validators)
        #expect(again.freshUntil == nil)
    }

    @Test func `A 304 with no-store clears the validators`() async throws {
        server.serve("/cat", .head(304, ["Cache-Control": "no-store"]))
        let known = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        #expect(try await unchanged(server.url("/cat"), knowing: known) == SourceFreshness())
    }

    // MARK: Redirects

    @Test func `The condition is sent to the final address, not to the redirect`() async throws {
        server.serve("/go", .redirect(other.url("/cat")))
        serve("/cat", tag: "\"1\"", on: other)
        let first = try await fetch(server.url("/go"), knowing: nil)
        _ = try await unchanged(server.url("/go"), knowing: first.freshness.validators)
        #expect(server.requests.allSatisfy { $0.headers["if-none-match"] == nil })
        #expect(other.requests.map { $0.headers["if-none-match"] } == [nil, "\"1\""])
    }

    @Test func `The same ETag at another address is another file`() async throws {
        serve("/cat", tag: "\"1\"", on: other)
        serve("/dog", tag: "\"1\"", on: other)
        server.serve("/go", inTurn: [.redirect(other.url("/cat")), .redirect(other.url("/dog"))])
        let first = try await fetch(server.url("/go"), knowing: nil)
        let second = try await fetch(server.url("/go"), knowing: first.freshness.validators)
        #expect(second.finalURL == other.url("/dog"))
        #expect(second.bytes == 4)
    }

    @Test func `A redirected file is fresh no longer than its redirect`() async throws {
        serve("/cat", tag: "\"1\"", on: server, ["Cache-Control": "max-age=600"])
        server.serve("/go", .redirect("/cat"))
        server.serve("/soon", .status(302, ["Location": "/cat", "Cache-Control": "max-age=60"]))
        #expect(try await fetch(server.url("/go"), knowing: nil).freshness.freshUntil == nil)
        let soon = try await fetch(server.url("/soon"), knowing: nil)
        #expect(soon.freshness.freshUntil.map { $0 <= .now + 60 } == true)
    }

    // MARK: Ranges and retries

    @Test func `An interrupted file resumes with a range and without the condition`() async throws {
        let body = patterned(300_000)
        server.serve("/cat") { request in
            request.number == 1
                ? .start(of: body, bytes: 100_000, ["ETag": "\"2\""]).then(.close)
                : .ranged(body, etag: "\"2\"", for: request)
        }
        let known = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        let file = try await fetch(server.url("/cat"), knowing: known)
        #expect(file.bytes == body.count)
        #expect(file.freshness.validators?.entityTag == "\"2\"")
        #expect(server.requests.map { $0.headers["if-none-match"] } == ["\"1\"", nil])
        #expect(server.requests.last?.rangeStart == 100_000)
    }

    @Test func `A retry after 503 sends the condition again`() async throws {
        server.serve("/cat", inTurn: [.status(503), .head(304)])
        let known = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        _ = try await unchanged(server.url("/cat"), knowing: known)
        #expect(server.requests.map { $0.headers["if-none-match"] } == ["\"1\"", "\"1\""])
    }

    // MARK: Invalid 304 responses

    @Test func `An unrequested 304 is an error`() async throws {
        server.serve("/cat", .head(304, ["ETag": "\"1\""]))
        let error = try await bench.failure(of: server.url("/cat"))
        #expect(error.code == .downloadHTTPStatus)
        #expect(!error.isRetryable)
    }

    @Test(arguments: [["ETag": "\"2\""], ["Last-Modified": "Sun, 06 Nov 1994 08:49:38 GMT"]])
    func `A 304 for another version is ignored`(headers: [String: String]) async throws {
        server.serve("/cat", inTurn: [.head(304, headers), .body(Data("meow".utf8))])
        let known = SourceValidators(entityTag: "\"1\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
        let file = try await fetch(server.url("/cat"), knowing: known)
        #expect(file.bytes == 4)
        #expect(server.requests.map { $0.headers["if-none-match"] } == ["\"1\"", nil])
        #expect(server.requests.map { $0.headers["if-modified-since"] != nil } == [true, false])
    }

    @Test func `A weakened ETag still matches`() async throws {
        server.serve("/cat", .head(304, ["ETag": "W/\"1\""]))
        let known = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        _ = try await unchanged(server.url("/cat"), knowing: known)
    }

    @Test func `A body after a 304 reaches neither the file nor the next request`() async throws {
        let smuggled = "HTTP/1.1 200 Answer\r\nContent-Length: 4\r\n\r\nevil"
        server.serve("/cat", .head(304, ["Content-Length": "\(smuggled.utf8.count)"]).then(.send(Data(smuggled.utf8))))
        server.serve("/dog", .body(Data("woof".utf8)))
        let known = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        _ = try await unchanged(server.url("/cat"), knowing: known)
        _ = try await fetch(server.url("/dog"), knowing: nil)
        #expect(try bench.content == Data("woof".utf8))
    }

    @Test func `An endless body after a 304 is not read`() async throws {
        server.serve("/cat", .head(304, ["Transfer-Encoding": "chunked"]).then(.sendForever(Data(count: 9_000))))
        let known = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        _ = try await unchanged(server.url("/cat"), knowing: known)
        await server.until { $0.openConnectionCount == 0 || $0.requests.count == 1 }
    }

    @Test func `An ambiguous head of a 304 is an error`() async throws {
        server.serve("/cat", .lines("Content-Length: 1", "Content-Length: 2", status: "304 Answer"))
        let known = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        let error = await #expect(throws: AttachPrepError.self) {
            _ = try await fetch(server.url("/cat"), knowing: known)
        }
        #expect(error?.code == .downloadHTTPStatus)
    }

    @Test func `The caller's own condition is sent instead`() async throws {
        server.serve("/cat", .head(304))
        let known = SourceValidators(entityTag: "\"1\"", lastModified: nil)
        let error = await #expect(throws: AttachPrepError.self) {
            _ = try await fetch(server.url("/cat"), headers: [("If-None-Match", "\"9\"")], knowing: known)
        }
        #expect(error?.code == .downloadHTTPStatus)
        #expect(server.requests.first?.headers["if-none-match"] == "\"9\"")
    }
}
