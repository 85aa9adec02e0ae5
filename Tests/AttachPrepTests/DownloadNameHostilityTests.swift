import Foundation
import RichPush
import Synchronization
import TestSupport
import Testing

@testable import AttachPrep

/// Name servers in an attacker's hand: each answer is looked at, each time.
@Suite(.timeLimit(.minutes(1))) struct DownloadNameHostilityTests {
    let server: LoopbackServer
    /// Stands where nobody may be led to.
    let inside: LoopbackServer
    let good: IPAddress
    let bad: IPAddress

    init() throws {
        server = try LoopbackServer()
        inside = try LoopbackServer(address: "127.0.0.2", port: server.port)
        good = try #require(IPAddress("127.0.0.1"))
        bad = try #require(IPAddress("127.0.0.2"))
        inside.serve("/cat", .body(Data("secret".utf8)))
        server.serve("/cat", .body(Data("meow".utf8)))
    }

    private func bench(turning answers: [IPAddress]...) throws -> DownloadBench {
        let resolver = FixedResolver(inTurn: ["turn.example": answers.map { .success($0) }])
        return try DownloadBench(exempt: [good], resolver: resolver)
    }

    private var url: String { server.url("/cat", host: "turn.example") }

    @Test func `A name that turns between two requests is refused, though the old connection is open`() async throws {
        let bench = try bench(turning: [good], [bad])
        #expect(try await bench.fetch(url).bytes == 4)
        #expect(try await bench.failure(of: url).code == .sourceAddressBlocked)
        #expect(server.requests.count == 1 && inside.connectionCount == 0)
    }

    @Test func `A name that turns between two tries is refused`() async throws {
        server.serve("/cat", .status(503))
        let bench = try bench(turning: [good], [good], [bad])
        #expect(try await bench.failure(of: url).code == .sourceAddressBlocked)
        #expect(server.requests.count == 2 && inside.connectionCount == 0)
    }

    @Test func `A name that turns before a broken body goes on is refused, and nothing is kept`() async throws {
        let bench = try bench(turning: [good], [bad])
        server.serve("/cat", .start(of: patterned(9_000), bytes: 5_000, ["ETag": "\"1\""]).then(.close))
        #expect(try await bench.failure(of: url).code == .sourceAddressBlocked)
        #expect(inside.connectionCount == 0)
    }

    @Test func `A name that turns between two hops is refused`() async throws {
        server.serve("/cat", .redirect("/cat?again"))
        let bench = try bench(turning: [good], [bad])
        #expect(try await bench.failure(of: url).code == .sourceAddressBlocked)
        #expect(server.requests.count == 1 && inside.connectionCount == 0)
    }

    @Test func `A name that turns to nothing has no old answer`() async throws {
        let resolver = FixedResolver(inTurn: ["turn.example": [.success([good]), .failure(.unknownName)]])
        let bench = try DownloadBench(exempt: [good], resolver: resolver)
        #expect(try await bench.fetch(url).bytes == 4)
        #expect(try await bench.failure(of: url).code == .downloadDNS)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [0, 1, 17, 99])
    func `One bad address drops the answer, wherever it stands in it`(place: Int) async throws {
        var answer = [IPAddress](repeating: good, count: 100)
        answer[place] = bad
        #expect(try await bench(turning: answer).failure(of: url).code == .sourceAddressBlocked)
        #expect(server.connectionCount == 0 && inside.connectionCount == 0)
    }

    @Test func `An answer of thousands is checked whole, and some of it is tried`() async throws {
        // Nothing listens on the others: each is a refused connection at once.
        let many = (0..<5_000).compactMap { IPAddress("127.0.\($0 / 250 + 1).\($0 % 250 + 1)") }
        let resolver = FixedResolver(inTurn: ["turn.example": [.success([good] + many), .success(many)]])
        let bench = try DownloadBench(resolver: resolver)
        #expect(try await bench.fetch(url).bytes == 4)
        await bench.downloader.shutdown()
        let dead = try DownloadBench(resolver: resolver)
        #expect(try await dead.failure(of: url).code == .downloadConnect)
    }

    @Test func `Of many addresses only some of each family are handed to curl`() async throws {
        let many = (0..<5_000).compactMap { IPAddress("10.0.\($0 / 250).\($0 % 250)") }
        let modern = try #require(IPAddress("fd00::1"))
        let hostResolver = HostResolver(
            resolver: FixedResolver(inTurn: ["many.example": [.success(many + [modern])]]),
            overrides: try ResolveOverrides([]),
            addressPolicy: AddressPolicy(isOpen: true), timeout: .seconds(60))
        let host = try await hostResolver.resolve(name: "many.example", 80, before: .now + .seconds(60))
        #expect(host.addresses == Array(many.prefix(Limits.addressesTriedMax)) + [modern])
    }

    @Test func `An empty answer is no answer`() async throws {
        let error = try await bench(turning: []).failure(of: url)
        #expect(error.code == .downloadDNS)
        #expect(!error.isRetryable)
    }

    @Test func `A name server that hangs once is asked again for the next download`() async throws {
        let resolver = HangingOnce(FixedResolver(["turn.example": ["127.0.0.1"]]))
        let bench = try DownloadBench(
            exempt: [good], resolver: resolver, timeouts: .prompt(resolve: .milliseconds(50)))
        #expect(try await bench.failure(of: url).code == .downloadDNS)
        #expect(try await bench.fetch(url).bytes == 4)
    }

    @Test(arguments: ["turn.example.", "TURN.example", "t%75rn.example"])
    func `Another spelling of a name is looked at as well`(host: String) async throws {
        let resolver = FixedResolver(["turn.example": ["127.0.0.2"], "turn.example.": ["127.0.0.2"]])
        let bench = try DownloadBench(exempt: [good], resolver: resolver)
        #expect(try await bench.failure(of: server.url("/cat", host: host)).code == .sourceAddressBlocked)
        #expect(inside.connectionCount == 0)
    }
}

/// Does not answer the first question.
private final class HangingOnce: NameResolver {
    private let hasHung = Mutex(false)
    private let other: FixedResolver

    init(_ other: FixedResolver) {
        self.other = other
    }

    func addresses(of host: String) async throws -> [IPAddress] {
        let hangs = hasHung.withLock { hasHung in
            defer { hasHung = true }
            return !hasHung
        }
        return try await hangs ? DeadNameServer().addresses(of: "name.dead") : other.addresses(of: host)
    }
}
