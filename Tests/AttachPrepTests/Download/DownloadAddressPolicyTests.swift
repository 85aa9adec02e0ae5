import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// Downloads reach public addresses only; the test server's own address is exempt.
@Suite(.timeLimit(.minutes(1))) struct DownloadAddressPolicyTests {
    let server: LoopbackServer
    /// At an address that must never be reached.
    let inside: LoopbackServer
    let exempt: Set<IPAddress>

    init() throws {
        server = try LoopbackServer()
        inside = try LoopbackServer(address: "127.0.0.2", port: server.port)
        exempt = try [#require(IPAddress("127.0.0.1"))]
        inside.serve("/secret", .body(Data("secret".utf8)))
        server.serve("/cat", .body(Data("meow".utf8)))
    }

    private func expectBlocked(_ bench: DownloadBench, _ url: String) async throws {
        let error = try await bench.failure(of: url)
        #expect(error.code == .sourceAddressBlocked)
        #expect(!error.isRetryable)
        #expect(inside.connectionCount == 0)
        #expect(try bench.content.isEmpty)
    }

    @Test(arguments: [
        "127.0.0.2", "2130706434", "0x7f000002", "0177.0.0.2", "127.2", "[::ffff:127.0.0.2]", "[::1]", "0.0.0.0",
    ])
    func `A blocked address is blocked in every spelling`(host: String) async throws {
        try await expectBlocked(DownloadBench(exempt: exempt), "http://\(host):\(server.port)/secret")
    }

    @Test func `An exempt address is allowed`() async throws {
        #expect(try await DownloadBench(exempt: exempt).fetch(server.url("/cat")).bytes == 4)
    }

    @Test func `A name with a blocked address is blocked`() async throws {
        let bench = try DownloadBench(exempt: exempt, resolver: FixedResolver(["inside.example": ["127.0.0.2"]]))
        try await expectBlocked(bench, inside.url("/secret", host: "inside.example"))
    }

    @Test(arguments: [["127.0.0.1", "127.0.0.2"], ["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "::1"]])
    func `One blocked address blocks the whole name`(addresses: [String]) async throws {
        let bench = try DownloadBench(exempt: exempt, resolver: FixedResolver(["mixed.example": addresses]))
        try await expectBlocked(bench, server.url("/cat", host: "mixed.example"))
        #expect(server.connectionCount == 0)
    }

    @Test func `A resolve override is checked like any other answer`() async throws {
        let policy = DownloadPolicy(resolveOverrides: ["inside.example:\(server.port):127.0.0.2"])
        let bench = try DownloadBench(policy: policy, exempt: exempt)
        try await expectBlocked(bench, inside.url("/secret", host: "inside.example"))
    }

    @Test(arguments: ["/secret", "/secret?sig=s3cr3t"])
    func `A redirect to a blocked address is blocked`(path: String) async throws {
        server.serve("/go", .redirect(inside.url(path)))
        try await expectBlocked(DownloadBench(exempt: exempt), server.url("/go"))
    }

    @Test func `A redirect to a name with a blocked address is blocked`() async throws {
        server.serve("/go", .redirect(inside.url("/secret", host: "inside.example")))
        let bench = try DownloadBench(exempt: exempt, resolver: FixedResolver(["inside.example": ["127.0.0.2"]]))
        try await expectBlocked(bench, server.url("/go"))
    }

    @Test func `A name that changes its address between two redirects is checked again`() async throws {
        let resolver = try FixedResolver(inTurn: [
            "turn.example": [
                .success([#require(IPAddress("127.0.0.1"))]), .success([#require(IPAddress("127.0.0.2"))]),
            ]
        ])
        server.serve("/go", .redirect("/secret"))
        let bench = try DownloadBench(exempt: exempt, resolver: resolver)
        try await expectBlocked(bench, server.url("/go", host: "turn.example"))
        #expect(resolver.names == ["turn.example", "turn.example"])
    }

    @Test func `With private networks allowed, every address is allowed`() async throws {
        #expect(try await DownloadBench().fetch(inside.url("/secret")).bytes == 6)
    }

    @Test func `The address is checked again when connecting and sending`() async throws {
        let bench = try DownloadBench(exempt: exempt)
        let (_, prefixReady) = AsyncStream.makeStream(of: Void.self)
        let body = BodyFile(descriptor: bench.descriptor, bytesMax: 10)
        let exchange = DownloadExchange(
            host: "x.example", body: body, addressPolicy: AddressPolicy(exempt: exempt), resumePoint: nil,
            deadline: .now + .seconds(60), prefixReady: prefixReady)
        #expect(exchange.mayConnect(to: "127.0.0.1") && exchange.maySendRequest(to: "127.0.0.1"))
        #expect(!exchange.mayConnect(to: "127.0.0.2"))
        #expect(exchange.received.abortError?.code == .sourceAddressBlocked)
        #expect(!exchange.maySendRequest(to: "::1"))
        #expect(!exchange.mayConnect(to: "nonsense"))
    }

    // MARK: Names

    @Test func `A name is resolved by the resolver alone, and pinned`() async throws {
        let resolver = FixedResolver(["cdn.example": ["127.0.0.1"]])
        let bench = try DownloadBench(exempt: exempt, resolver: resolver)
        let file = try await bench.fetch(server.url("/cat", host: "cdn.example"))
        #expect(file.finalURL == server.url("/cat", host: "cdn.example"))
        #expect(resolver.names == ["cdn.example"])
        #expect(server.requests.first?.headers["host"] == "cdn.example:\(server.port)")
    }

    @Test func `A resolve override needs no resolver`() async throws {
        let policy = DownloadPolicy(resolveOverrides: ["CDN.example:\(server.port):[127.0.0.1]"])
        let bench = try DownloadBench(policy: policy, exempt: exempt)
        #expect(try await bench.fetch(server.url("/cat", host: "cdn.example")).bytes == 4)
    }

    @Test(arguments: [
        "", "cdn.example", "cdn.example:80", "cdn.example:80:", "cdn.example:x:127.0.0.1", "cdn.example:80:localhost",
    ])
    func `An invalid resolve override is rejected at startup`(entry: String) throws {
        let error = #expect(throws: AttachPrepError.self) {
            try DownloadBench(policy: DownloadPolicy(resolveOverrides: [entry]))
        }
        #expect(error?.code == .requestInvalid)
    }

    @Test func `An international name is resolved in ASCII`() async throws {
        let resolver = FixedResolver(["xn--bcher-kva.example": ["127.0.0.1"]])
        let bench = try DownloadBench(exempt: exempt, resolver: resolver)
        #expect(try await bench.fetch(server.url("/cat", host: "bücher.example")).bytes == 4)
    }

    @Test func `A name that does not exist is not looked up again`() async throws {
        let resolver = FixedResolver()
        let error = try await DownloadBench(resolver: resolver).failure(of: "http://nowhere.example/")
        #expect(error.code == .downloadDNS)
        #expect(!error.isRetryable)
        #expect(resolver.names.count == 1)
    }

    @Test func `A temporary DNS error is retried`() async throws {
        let good = try #require(IPAddress("127.0.0.1"))
        let resolver = FixedResolver(inTurn: ["cdn.example": [.failure(.temporary(detail: "")), .success([good])]])
        let file = try await DownloadBench(resolver: resolver).fetch(server.url("/cat", host: "cdn.example"))
        #expect(file.attempts == 2)
    }

    @Test func `A hanging name server does not block another download`() async throws {
        let bench = try DownloadBench(
            resolver: DeadNameServer(), inFlightMax: 1, timeouts: .prompt(resolve: .seconds(3_600)))
        let other = try DownloadBench()
        let url = server.url("/cat", host: "name.dead")
        let waiting = Task { try await other.fetch(url) }
        let stuck = Task { try await bench.fetch(url) }
        #expect(try await bench.fetch(server.url("/cat")).bytes == 4)
        stuck.cancel()
        waiting.cancel()
        let error = await #expect(throws: AttachPrepError.self) { try await stuck.value }
        #expect(error?.code == .cancelled)
        _ = await waiting.result
    }

    @Test func `A hanging name server ends at the DNS limit`() async throws {
        let bench = try DownloadBench(resolver: DeadNameServer(), timeouts: .prompt(resolve: .milliseconds(50)))
        #expect(try await bench.failure(of: "http://name.dead/").code == .downloadDNS)
    }

    @Test func `A hanging name server ends at an earlier deadline`() async throws {
        let bench = try DownloadBench(resolver: DeadNameServer())
        #expect(try await bench.failure(of: "http://name.dead/", within: .milliseconds(50)).code == .deadlineExceeded)
    }
}
