import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

/// The addressPolicy between callbacks and the network inside.
@Suite(.timeLimit(.minutes(1))) struct CallWallTests {
    let server: LoopbackServer

    init() throws {
        server = try LoopbackServer(address: "127.0.0.2")
        server.serve("/hook", .status(204))
    }

    private func order(_ url: String) -> HTTPClientRequest {
        HTTPClientRequest(.post, url, body: Array("{}".utf8), answerBytesMax: 10, deadline: .now + .seconds(30))
    }

    private func expectRefused(_ url: String, _ sender: HTTPClient) async throws {
        let order = order(url)
        let error = await #expect(throws: AttachPrepError.self) { try await sender.send(order) }
        #expect(error?.code == .sourceAddressBlocked)
        #expect(error?.message.contains("operator allow its network") == true)
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: ["127.0.0.2", "2130706434", "127.2", "[::ffff:127.0.0.2]", "[::1]", "0.0.0.0"])
    func `An address inside is refused in every spelling`(host: String) async throws {
        try await expectRefused("http://\(host):\(server.port)/hook", HTTPClient())
    }

    @Test func `A name that leads inside is refused`() async throws {
        let resolver = FixedResolver(["hooks.example": ["127.0.0.2"]])
        try await expectRefused(server.url("/hook", host: "hooks.example"), HTTPClient(resolver: resolver))
    }

    @Test func `A network beside the one that is opened is refused`() async throws {
        let sender = try HTTPClient(networks: [AddressBlock("127.0.0.4/30"), AddressBlock("::/0")])
        try await expectRefused(server.url("/hook"), sender)
    }

    @Test(arguments: ["127.0.0.2", "2130706434", "[::ffff:127.0.0.2]", "hooks.example"])
    func `An opened network is reached in every spelling`(host: String) async throws {
        let sender = try HTTPClient(
            networks: [AddressBlock("127.0.0.2/31")], resolver: FixedResolver(["hooks.example": ["127.0.0.2"]]))
        #expect(try await sender.send(order("http://\(host):\(server.port)/hook")).status == 204)
    }

    @Test func `One address outside the opened network drops a name's whole answer`() async throws {
        let resolver = FixedResolver(["hooks.example": ["127.0.0.2", "127.0.0.9"]])
        let sender = try HTTPClient(networks: [AddressBlock("127.0.0.2/31")], resolver: resolver)
        try await expectRefused(server.url("/hook", host: "hooks.example"), sender)
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
        try await expectRefused(server.url("/hook"), HTTPClient(policy: policy))
        let sender = try HTTPClient(policy: policy, networks: [AddressBlock("127.0.0.2")])
        #expect(try await sender.send(order(server.url("/hook"))).status == 204)
    }

    @Test func `An open private network is open`() async throws {
        let sender = try HTTPClient(policy: DownloadPolicy(allowsPrivateNetwork: true))
        #expect(try await sender.send(order(server.url("/hook"))).status == 204)
    }

    @Test func `A receiver that is not who it says gets nothing`() async throws {
        let relay = try TLSRelay(to: LoopbackServer(), protocols: [], as: .wrongName)
        let policy = try DownloadPolicy(
            allowsPrivateNetwork: true, certificateAuthorityFile: TestCertificates.shared.authorityFile)
        let (sender, order) = (try HTTPClient(policy: policy), order(relay.url("/hook")))
        let error = await #expect(throws: AttachPrepError.self) { try await sender.send(order) }
        #expect(error?.code == .downloadTLS)
    }

    @Test func `A receiver with a certificate for its name is told over TLS`() async throws {
        let server = try LoopbackServer()
        server.serve("/hook", .status(204))
        let relay = try TLSRelay(to: server, protocols: [])
        let policy = try DownloadPolicy(certificateAuthorityFile: TestCertificates.shared.authorityFile)
        let sender = try HTTPClient(
            policy: policy, networks: [AddressBlock("127.0.0.1")],
            resolver: FixedResolver(["cdn.example": ["127.0.0.1"]]))
        _ = try await sender.send(order(relay.url("/hook", host: "cdn.example")))
        #expect(server.requests.map(\.body) == [Data("{}".utf8)])
    }

    @Test func `Over HTTP/2 a body is taken as well, again and again`() async throws {
        let server = try TLSFileServer(.http2)
        try server.folder.write("taken", to: "hook")
        let policy = try DownloadPolicy(
            allowsPrivateNetwork: true, certificateAuthorityFile: TestCertificates.shared.authorityFile)
        let sender = try HTTPClient(policy: policy)
        for _ in 0..<2 {
            let answer = try await sender.send(
                HTTPClientRequest(
                    .post, server.url("/hook"), body: Array(repeating: 1, count: 60_000), answerBytesMax: 10,
                    deadline: .now + .seconds(30)))
            #expect(answer.status == 200 && answer.isWhole && answer.body == Array("taken".utf8))
        }
    }
}
