import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// Waiting for a source that does not exist yet or is still being written.
@Suite(.timeLimit(.minutes(1))) struct SourceWaitTests {
    let server: LoopbackServer
    let bench: DownloadBench
    private let short = Data("me".utf8)
    private let whole = Data("meow".utf8)

    init() throws {
        server = try LoopbackServer()
        bench = try DownloadBench()
    }

    private func fetch(_ url: String, wait: Duration = .seconds(30)) async throws -> DownloadedFile {
        var request = DownloadRequest(url: url, deadline: .now + .seconds(60))
        request.wait = SourceWait(until: .now + wait)
        return try await bench.downloader.download(request, into: bench.descriptor) { _, _ in .anything }
    }

    private static func date(_ secondsAgo: Double) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: Date(timeIntervalSinceNow: -secondsAgo))
    }

    // MARK: A source that does not exist yet

    @Test(arguments: [404, 425, 429, 503])
    func `A source that is not there yet is requested until it is`(status: Int) async throws {
        server.serve("/clip", inTurn: Array(repeating: .status(status), count: 6) + [.body(whole)])
        let file = try await fetch(server.url("/clip"))
        #expect(try bench.content == whole)
        #expect(server.requests.count == 7 && file.attempts == 1)
    }

    @Test func `The error of the source is reported when the wait is over`() async throws {
        server.serve("/clip", .status(404))
        let error = await #expect(throws: AttachPrepError.self) {
            try await fetch(server.url("/clip"), wait: .milliseconds(300))
        }
        #expect(error?.code == .sourceNotFound)
        #expect(server.requests.count >= 2)
    }

    @Test(arguments: [401, 410]) func `Other statuses are final`(status: Int) async throws {
        server.serve("/clip", .status(status))
        await #expect(throws: AttachPrepError.self) { try await fetch(server.url("/clip")) }
        #expect(server.requests.count == 1)
    }

    @Test func `A redirect is requested again from its beginning`() async throws {
        server.serve("/latest", inTurn: [.redirect("/1"), .redirect("/2")])
        server.serve("/1", .status(404))
        server.serve("/2", .body(whole))
        _ = try await fetch(server.url("/latest"))
        #expect(server.requests.map(\.path) == ["/latest", "/1", "/latest", "/2"])
    }

    // MARK: A source that still grows

    @Test func `A live playlist, which always grows, is taken at once`() async throws {
        let playlist = Data("#EXTM3U\n#EXT-X-VERSION:3\n".utf8)
        server.serve("/live", .body(playlist, headers: ["Last-Modified": Self.date(1), "ETag": "\"1\""]))
        _ = try await fetch(server.url("/live"))
        #expect(server.requests.count == 1)
    }

    @Test func `A file that was just changed is fetched again until it stays the same`() async throws {
        let first = ["ETag": "\"1\"", "Last-Modified": Self.date(0), "Date": Self.date(0)]
        let second = ["ETag": "\"2\"", "Last-Modified": Self.date(0), "Date": Self.date(0)]
        server.serve(
            "/clip",
            inTurn: [.body(short, headers: first), .body(whole, headers: second), .head(304, ["ETag": "\"2\""])])
        let file = try await fetch(server.url("/clip"))
        #expect(try bench.content == whole && file.bytes == whole.count)
        #expect(server.requests.map { $0.headers["if-none-match"] } == [nil, "\"1\"", "\"2\""])
    }

    @Test func `A file that has not changed for a while is complete`() async throws {
        let headers = ["ETag": "\"1\"", "Last-Modified": Self.date(60), "Date": Self.date(0)]
        server.serve("/clip", .body(whole, headers: headers))
        _ = try await fetch(server.url("/clip"))
        #expect(server.requests.count == 1)
    }

    @Test func `A file without a validator is taken as it is`() async throws {
        server.serve("/clip", .body(whole))
        _ = try await fetch(server.url("/clip"))
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [404, 503])
    func `A complete file is used when it cannot be compared again`(status: Int) async throws {
        server.serve("/clip", inTurn: [.body(whole, headers: ["ETag": "\"1\""]), .status(status)])
        let file = try await fetch(server.url("/clip"))
        #expect(try bench.content == whole && file.bytes == whole.count)
        #expect(server.requests.count == 2)
    }

    @Test func `A file that must not be stored is still compared within the download`() async throws {
        let headers = ["ETag": "\"1\"", "Cache-Control": "no-store"]
        server.serve("/clip", inTurn: [.body(whole, headers: headers), .head(304, ["ETag": "\"1\""])])
        let file = try await fetch(server.url("/clip"))
        #expect(server.requests.last?.headers["if-none-match"] == "\"1\"" && file.freshness.validators == nil)
    }

    @Test func `A server that sends the same file again is not asked a third time`() async throws {
        server.serve("/clip", .body(whole, headers: ["ETag": "\"1\""]))
        _ = try await fetch(server.url("/clip"))
        #expect(try bench.content == whole)
        #expect(server.requests.count == 2)
    }

    @Test func `A newer version that the end of the wait cuts off is completed`() async throws {
        let second = LoopbackResponse.start(of: whole, bytes: 1, ["ETag": "\"2\""]).then(.hang)
        server.serve(
            "/clip",
            inTurn: [.body(short, headers: ["ETag": "\"1\""]), second, .body(whole, headers: ["ETag": "\"2\""])])
        let file = try await fetch(server.url("/clip"), wait: .milliseconds(900))
        #expect(try bench.content == whole && file.bytes == whole.count)
    }

    @Test func `A server that hangs when asked again does not cost more than the wait`() async throws {
        let hanging = LoopbackResponse([.hang])
        server.serve("/clip", inTurn: [.body(whole, headers: ["ETag": "\"1\""]), hanging])
        let file = try await fetch(server.url("/clip"), wait: .milliseconds(800))
        #expect(try bench.content == whole && file.bytes == whole.count)
    }

    // MARK: Delays

    @Test(arguments: [(1, 0.1), (2, 0.2), (4, 0.8), (1_000_000, 0.8)])
    func `Requests become rarer, but are never more than 0.8 s apart`(requests: Int, longest: Double) {
        let wait = SourceWait(until: .now + .seconds(60))
        let delay = wait.delay(afterRequests: requests, chance: 1, retryAfter: nil, now: .now)
        #expect(delay.map { abs($0 / .seconds(1) - longest) < 0.001 } == true)
    }

    @Test func `A Retry-After is a lower bound, and one past the end is not waited for`() {
        let now = ContinuousClock.now
        let wait = SourceWait(until: now + .seconds(10))
        #expect(wait.delay(afterRequests: 1, chance: 0, retryAfter: .seconds(3), now: now) == .seconds(3))
        #expect(wait.delay(afterRequests: 1, chance: 0, retryAfter: .seconds(30), now: now) == nil)
    }
}
