import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// Callbacks reach public addresses and allowed networks only.
@Suite(.timeLimit(.minutes(1))) struct HTTPClientAddressPolicyTests {
    let server: LoopbackServer

    init() throws {
        server = try LoopbackServer(address: "127.0.0.2")
        server.serve("/hook", .status(204))
    }

    private func request(_ url: String) -> HTTPClientRequest {
        HTTPClientRequest(.post, url, body: Array("{}".utf8), responseBytesMax: 10, deadline: .now + .seconds(30))
    }

    private func expectBlocked(_ url: String, _ client: HTTPClient) async throws {
        let request = request(url)
        let error = await #expect(throws: AttachPrepError.self) { try await client.send(request) }
        #expect(error?.code == .sourceAddressBlocked)
        #expect(error?.message.contains("operator allow its network") == true)
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: ["127.0.0.2", "2130706434", "127.2", "[::ffff:127.0.0.2]", "[::1]", "0.0.0.0"])
    func `A private address is blocked in every spelling`(host: String) async throws {
        try await expectBlocked("http://\(host):\(server.port)/hook", HTTPClient())
    }

    @Test func `A name that resolves to a private address is blocked`() async throws {
        let resolver = FixedResolver(["hooks.example": ["127.0.0.2"]])
        try await expectBlocked(server.url("/hook", host: "hooks.example"), HTTPClient(resolver: resolver))
    }

    @Test func `A network next to the allowed one is blocked`() async throws {
        let client = try HTTPClient(networks: [AddressBlock("127.0.0.4/30"), AddressBlock("::/0")])
        try await expectBlocked(server.url("/hook"), client)
    }

    @Test(arguments: ["127.0.0.2", "2130706434", "[::ffff:127.0.0.2]", "hooks.example"])
    func `An allowed network is reachable in every spelling`(host: String) async throws {
        let client = try HTTPClient(
            networks: [AddressBlock("127.0.0.2/31")], resolver: FixedResolver(["hooks.example": ["127.0.0.2"]]))
        #expect(try await client.send(request("http://\(host):\(server.port)/hook")).status == 204)
    }

    @Test func `One address outside the allowed network blocks the whole name`() async throws {
        let resolver = FixedResolver(["hooks.example": ["127.0.0.2", "127.0.0.9"]])
        let client = try HTTPClient(networks: [AddressBlock("127.0.0.2/31")], resolver: resolver)
        try await expectBlocked(server.url("/hook", host: "hooks.example"), client)
    }

    @Test func `The address is checked again when connecting and sending`() throws {
        let addressPolicy = try AddressPolicy(networks: [AddressBlock("127.0.0.2/31")])
        let exchange = HTTPClientExchange(host: "x.example", addressPolicy: addressPolicy, bytesMax: 10)
        #expect(exchange.mayConnect(to: "127.0.0.2") && exchange.maySendRequest(to: "::ffff:127.0.0.3"))
        #expect(!exchange.mayConnect(to: "127.0.0.4") && !exchange.maySendRequest(to: "nonsense"))
        #expect(exchange.abortError?.code == .sourceAddressBlocked)
    }

    @Test func `Proxy variables and a policy's proxy do not bypass the address policy`() async throws {
        setenv("http_proxy", "http://127.0.0.1:1", 1)
        defer { unsetenv("http_proxy") }
        let policy = DownloadPolicy(proxy: "http://127.0.0.1:1")
        try await expectBlocked(server.url("/hook"), HTTPClient(policy: policy))
        let client = try HTTPClient(policy: policy, networks: [AddressBlock("127.0.0.2")])
        #expect(try await client.send(request(server.url("/hook"))).status == 204)
    }

    @Test func `With private networks allowed, a loopback address is reachable`() async throws {
        let client = try HTTPClient(policy: DownloadPolicy(allowsPrivateNetwork: true))
        #expect(try await client.send(request(server.url("/hook"))).status == 204)
    }

    @Test func `A server with the wrong name in its certificate is rejected`() async throws {
        let relay = try TLSRelay(to: LoopbackServer(), protocols: [], as: .wrongName)
        let policy = try DownloadPolicy(
            allowsPrivateNetwork: true, certificateAuthorityFile: TestCertificates.shared.authorityFile)
        let (client, request) = (try HTTPClient(policy: policy), request(relay.url("/hook")))
        let error = await #expect(throws: AttachPrepError.self) { try await client.send(request) }
        #expect(error?.code == .downloadTLS)
    }

    @Test func `A server with a valid certificate receives the body over TLS`() async throws {
        let server = try LoopbackServer()
        server.serve("/hook", .status(204))
        let relay = try TLSRelay(to: server, protocols: [])
        let policy = try DownloadPolicy(certificateAuthorityFile: TestCertificates.shared.authorityFile)
        let client = try HTTPClient(
            policy: policy, networks: [AddressBlock("127.0.0.1")],
            resolver: FixedResolver(["cdn.example": ["127.0.0.1"]]))
        _ = try await client.send(request(relay.url("/hook", host: "cdn.example")))
        #expect(server.requests.map(\.body) == [Data("{}".utf8)])
    }

    @Test func `A body is sent over HTTP/2, more than once`() async throws {
        let server = try TLSFileServer(.http2)
        try server.folder.write("received", to: "hook")
        let policy = try DownloadPolicy(
            allowsPrivateNetwork: true, certificateAuthorityFile: TestCertificates.shared.authorityFile)
        let client = try HTTPClient(policy: policy)
        for _ in 0..<2 {
            let response = try await client.send(
                HTTPClientRequest(
                    .post, server.url("/hook"), body: Array(repeating: 1, count: 60_000), responseBytesMax: 10,
                    deadline: .now + .seconds(30)))
            #expect(response.status == 200 && response.isWhole && response.body == Array("received".utf8))
        }
    }
}
