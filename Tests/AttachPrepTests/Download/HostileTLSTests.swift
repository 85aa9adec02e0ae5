import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep

/// Servers with invalid certificates or broken TLS.
@Suite(.timeLimit(.minutes(1))) struct HostileTLSTests {
    private func bench(_ timeouts: DownloadTimeouts = .prompt) throws -> DownloadBench {
        let authority = try TestCertificates.shared.authorityFile
        return try DownloadBench(policy: DownloadPolicy(certificateAuthorityFile: authority), timeouts: timeouts)
    }

    private func expectRejected(_ url: String, sourceLocation: Testing.SourceLocation = #_sourceLocation) async throws {
        let error = try await bench().failure(of: url)
        #expect(error.code == .downloadTLS, "\(error.detail ?? "")", sourceLocation: sourceLocation)
        #expect(!error.isRetryable, sourceLocation: sourceLocation)
    }

    // MARK: Certificates

    @Test func `A chain with an intermediate certificate is verified up to the authority`() async throws {
        let server = try TLSFileServer(.http1, as: .withIntermediate)
        try server.folder.write("meow", to: "cat.jpg")
        #expect(try await bench().fetch(server.url("/cat.jpg")).bytes == 4)
    }

    @Test(arguments: [
        TestCertificates.Identity.selfSigned, .unknownAuthority, .wrongName, .expired, .notYetValid,
        .withoutIntermediate,
        .forClients, .weakKey, .giantChain,
    ])
    func `An invalid certificate is rejected`(identity: TestCertificates.Identity) async throws {
        let server = try TLSFileServer(.http1, as: identity, identity == .weakKey ? ["-cipher", "ALL@SECLEVEL=0"] : [])
        try server.folder.write("meow", to: "cat.jpg")
        try await expectRejected(server.url("/cat.jpg"))
    }

    @Test(arguments: [["-tls1_2"], ["-tls1_3"]])
    func `A server that requires a client certificate gets none`(version: [String]) async throws {
        let server = try TLSFileServer(.http1, as: .trusted, version + ["-Verify", "1", "-verify_return_error"])
        try server.folder.write("meow", to: "cat.jpg")
        try await expectRejected(server.url("/cat.jpg"))
    }

    @Test(arguments: ["-tls1", "-tls1_1"])
    func `An outdated TLS version is rejected`(version: String) async throws {
        let server = try TLSFileServer(.http1, as: .trusted, [version, "-cipher", "ALL@SECLEVEL=0"])
        try server.folder.write("meow", to: "cat.jpg")
        try await expectRejected(server.url("/cat.jpg"))
    }

    @Test(arguments: ["NULL-SHA256", "AECDH-AES128-SHA", "ECDHE-ECDSA-NULL-SHA"])
    func `A cipher without encryption or authentication is rejected`(cipher: String) async throws {
        let server = try TLSFileServer(.http1, as: .trusted, ["-tls1_2", "-cipher", "\(cipher):@SECLEVEL=0"])
        try await expectRejected(server.url("/cat.jpg"))
    }

    // MARK: Handshakes

    /// Waits for the client's first bytes, so that the handshake is what breaks.
    private static let hello = LoopbackResponse.Step.receive { !$0.isEmpty }

    private func greeting(_ steps: [LoopbackResponse.Step]) throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.greet(LoopbackResponse([Self.hello] + steps))
        return server
    }

    /// Created on each access: the leak sanitizer does not see bytes held only by a static table.
    private static var handshakes: [(String, [LoopbackResponse.Step])] {
        [
            ("closed", [.close]), ("reset", [.reset]),
            ("plain HTTP", [.send(Data("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)), .close]),
            ("an alert", [.send(Data([0x15, 3, 3, 0, 2, 2, 40])), .close]),
            ("a version of SSL", [.send(Data([0x16, 3, 0, 0, 4, 2, 0, 0, 0])), .close]),
            ("garbage", [.send(Data((0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 197) })), .close]),
            ("garbage without end", [.sendForever(Data(repeating: 0xff, count: 65_536))]),
            ("empty records without end", [.sendForever(Data([0x16, 3, 3, 0, 0]))]),
            ("warnings without end", [.sendForever(Data([0x15, 3, 3, 0, 2, 1, 100]))]),
            (
                "a message of 16 MB",
                [.send(Data([0x16, 3, 3, 0x40, 0, 2, 0xff, 0xff, 0xff]) + Data(count: 1 << 14)), .close]
            ),
        ]
    }

    @Test(arguments: Self.handshakes.indices)
    func `An invalid handshake is rejected`(index: Int) async throws {
        let server = try greeting(Self.handshakes[index].1)
        try await expectRejected("https://127.0.0.1:\(server.port)/cat")
        #expect(server.connectionCount == 1, "\(Self.handshakes[index].0)")
    }

    @Test func `A stalled handshake is a timeout`() async throws {
        let server = try greeting([.hang])
        let error = try await bench(.prompt(connect: .milliseconds(100))).failure(
            of: "https://127.0.0.1:\(server.port)/cat")
        #expect(error.code == .downloadTimeout)
    }

    @Test func `A handshake that arrives byte by byte is a timeout`() async throws {
        let server = try greeting([
            .send(Data([0x16, 3, 3, 0x10, 0])), .drip(Data(count: 4_096), pauseMilliseconds: 5),
        ])
        let error = try await bench(.prompt(connect: .milliseconds(100))).failure(
            of: "https://127.0.0.1:\(server.port)/cat")
        #expect(error.code == .downloadTimeout)
    }

    // MARK: After the handshake

    @Test func `Bytes after a response are not used as the next response`() async throws {
        let server = try LoopbackServer()
        let meow = Data("meow".utf8)
        let fake = Data("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake".utf8)
        server.serve("/cat", .lines("Content-Length: 4").then(.send(meow + fake)))
        server.serve("/next", .body(meow))
        let relay = try TLSRelay(to: server, protocols: ["http/1.1"])
        let bench = try bench()
        for path in ["/cat", "/next"] {
            try await bench.fetch(relay.url(path))
            #expect(try bench.content == meow)
        }
        #expect(server.connectionCount == 2)
    }

    @Test func `A redirect from https to http is rejected when only https is allowed`() async throws {
        let server = try LoopbackServer()
        server.serve("/go", .redirect(server.url("/cat")))
        server.serve("/cat", .body(Data("meow".utf8)))
        let relay = try TLSRelay(to: server, protocols: ["http/1.1"])
        let policy = DownloadPolicy(
            httpsOnly: true, certificateAuthorityFile: try TestCertificates.shared.authorityFile)
        let error = try await DownloadBench(policy: policy).failure(of: relay.url("/go"))
        #expect(error.code == .sourceSchemeNotAllowed)
        #expect(server.requests.map(\.path) == ["/go"])
        #expect(try await bench().fetch(relay.url("/go")).bytes == 4)
    }
}
