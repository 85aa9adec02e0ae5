import Foundation
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import AttachPrep

/// Hostile name servers: every answer is checked, every time.
@Suite(.timeLimit(.minutes(1))) struct HostileDNSTests {
    let server: LoopbackServer
    /// At an address that must never be reached.
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

    private func bench(rebinding answers: [IPAddress]...) throws -> DownloadBench {
        let resolver = FixedResolver(inTurn: ["rebinding.example": answers.map { .success($0) }])
        return try DownloadBench(exempt: [good], resolver: resolver)
    }

    private var url: String { server.url("/cat", host: "rebinding.example") }

    @Test func `A rebinding name is blocked on the next request, despite an open connection`() async throws {
        let bench = try bench(rebinding: [good], [bad])
        #expect(try await bench.fetch(url).bytes == 4)
        #expect(try await bench.failure(of: url).code == .sourceAddressBlocked)
        #expect(server.requests.count == 1 && inside.connectionCount == 0)
    }

    @Test func `A name that rebinds between two attempts is blocked`() async throws {
        server.serve("/cat", .status(503))
        let bench = try bench(rebinding: [good], [good], [bad])
        #expect(try await bench.failure(of: url).code == .sourceAddressBlocked)
        #expect(server.requests.count == 2 && inside.connectionCount == 0)
    }

    @Test func `A name that rebinds before a body is resumed is blocked`() async throws {
        let bench = try bench(rebinding: [good], [bad])
        server.serve("/cat", .start(of: patterned(9_000), bytes: 5_000, ["ETag": "\"1\""]).then(.close))
        #expect(try await bench.failure(of: url).code == .sourceAddressBlocked)
        #expect(inside.connectionCount == 0)
    }

    @Test func `A name that rebinds between two redirects is blocked`() async throws {
        server.serve("/cat", .redirect("/cat?again"))
        let bench = try bench(rebinding: [good], [bad])
        #expect(try await bench.failure(of: url).code == .sourceAddressBlocked)
        #expect(server.requests.count == 1 && inside.connectionCount == 0)
    }

    @Test func `A name that no longer resolves does not reuse its old address`() async throws {
        let resolver = FixedResolver(inTurn: ["rebinding.example": [.success([good]), .failure(.unknownName)]])
        let bench = try DownloadBench(exempt: [good], resolver: resolver)
        #expect(try await bench.fetch(url).bytes == 4)
        #expect(try await bench.failure(of: url).code == .downloadDNS)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [0, 1, 17, 99])
    func `One blocked address blocks the whole name, at any index`(index: Int) async throws {
        var answer = [IPAddress](repeating: good, count: 100)
        answer[index] = bad
        #expect(try await bench(rebinding: answer).failure(of: url).code == .sourceAddressBlocked)
        #expect(server.connectionCount == 0 && inside.connectionCount == 0)
    }

    @Test func `All of thousands of addresses are checked, and some of them are tried`() async throws {
        // Nothing listens on the others, so each refuses the connection at once.
        let many = (0..<5_000).compactMap { IPAddress("127.0.\($0 / 250 + 1).\($0 % 250 + 1)") }
        let resolver = FixedResolver(inTurn: ["rebinding.example": [.success([good] + many), .success(many)]])
        let bench = try DownloadBench(resolver: resolver)
        #expect(try await bench.fetch(url).bytes == 4)
        await bench.downloader.shutdown()
        let dead = try DownloadBench(resolver: resolver)
        #expect(try await dead.failure(of: url).code == .downloadConnect)
    }

    @Test func `Only some addresses of each family are passed to libcurl`() async throws {
        let many = (0..<5_000).compactMap { IPAddress("10.0.\($0 / 250).\($0 % 250)") }
        let modern = try #require(IPAddress("fd00::1"))
        let hostResolver = HostResolver(
            resolver: FixedResolver(inTurn: ["many.example": [.success(many + [modern])]]),
            overrides: try ResolveOverrides([]),
            addressPolicy: AddressPolicy(isOpen: true), timeout: .seconds(60))
        let host = try await hostResolver.resolve(name: "many.example", 80, before: .now + .seconds(60))
        #expect(host.addresses == Array(many.prefix(Limits.addressesTriedMax)) + [modern])
    }

    @Test func `An empty answer is a DNS error`() async throws {
        let error = try await bench(rebinding: []).failure(of: url)
        #expect(error.code == .downloadDNS)
        #expect(!error.isRetryable)
    }

    @Test func `A lookup that hung is repeated for the next download`() async throws {
        let resolver = HangingOnce(FixedResolver(["rebinding.example": ["127.0.0.1"]]))
        let bench = try DownloadBench(
            exempt: [good], resolver: resolver, timeouts: .prompt(resolve: .milliseconds(50)))
        #expect(try await bench.failure(of: url).code == .downloadDNS)
        #expect(try await bench.fetch(url).bytes == 4)
    }

    @Test(arguments: ["rebinding.example.", "REBINDING.example", "r%65binding.example"])
    func `Other spellings of a name are checked too`(host: String) async throws {
        let resolver = FixedResolver(["rebinding.example": ["127.0.0.2"], "rebinding.example.": ["127.0.0.2"]])
        let bench = try DownloadBench(exempt: [good], resolver: resolver)
        #expect(try await bench.failure(of: server.url("/cat", host: host)).code == .sourceAddressBlocked)
        #expect(inside.connectionCount == 0)
    }
}

/// Does not answer the first query.
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
