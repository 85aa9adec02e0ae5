import NATS
import TestSupport
import Testing

@Suite struct NATSConnectionTests {
    @Test func `a subject that nobody listens to says so at once`() async throws {
        let server = try await NATSServer.start()
        let connection = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        await #expect(throws: NATSError.noResponders(subject: "nobody.here")) {
            _ = try await connection.request(OutgoingMessage("nobody.here"))
        }
    }

    @Test func `servers that are not there are named as such`() async throws {
        let server = try await NATSServer.start()
        let url = server.url
        server.kill()
        try await server.untilGone()
        await #expect(throws: NATSError.self) { _ = try await NATSConnection.connect(NATSSettings(servers: [url])) }
    }

    @Test func `a message over the servers' limit is not sent`() async throws {
        let server = try await NATSServer.start("max_payload: 1000")
        let connection = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        let error = await #expect(throws: NATSError.self) {
            _ = try await connection.request(OutgoingMessage("any", [UInt8](repeating: 0, count: 1001)))
        }
        #expect(error == .tooLarge(bytes: 1001, limit: 1000))
    }

    @Test func `a server that goes fails what is under way, and is found again`() async throws {
        let server = try await NATSServer.start()
        let connection = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        server.kill()
        try await waitUntil("the loss is noticed") { !connection.isConnected }
        await #expect(throws: NATSError.disconnected) { _ = try await connection.request(OutgoingMessage("any")) }
        try await server.restart()
        try await waitUntil("it is connected again") { connection.isConnected }
        let stream = JetStream(connection)
        try await stream.ensure(StreamConfiguration("after", subjects: ["after"], description: "a test's"))
        #expect(try await stream.publish(OutgoingMessage("after")) == 1)
    }

    @Test func `a connection that is closed answers nobody`() async throws {
        let server = try await NATSServer.start()
        let connection = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        connection.close()
        await #expect(throws: NATSError.disconnected) { _ = try await connection.request(OutgoingMessage("any")) }
    }

    @Test func `users and tokens are shown, and wrong ones refused`() async throws {
        let users = try await NATSServer.start(#"authorization { users: [{ user: "me", password: "open" }] }"#)
        _ = try await NATSConnection.connect(
            NATSSettings(servers: [users.url], identity: .user("me", password: "open")))
        await #expect(throws: NATSError.self) {
            _ = try await NATSConnection.connect(
                NATSSettings(servers: [users.url], identity: .user("me", password: "wrong")))
        }
        let tokens = try await NATSServer.start(#"authorization { token: "sesame" }"#)
        _ = try await NATSConnection.connect(NATSSettings(servers: [tokens.url], identity: .token("sesame")))
        await #expect(throws: NATSError.self) {
            _ = try await NATSConnection.connect(NATSSettings(servers: [tokens.url]))
        }
    }

    @Test func `a user proves himself with his seed`() async throws {
        let server = try await NATSServer.start(
            "authorization { users: [{ nkey: \(TestIdentities.publicKey) }] }", hasJetStream: false)
        let file = try server.folder.write(TestIdentities.seed, to: "seed")
        let identity = NATSSettings.Identity.nkey(seedFile: file, publicKey: TestIdentities.publicKey)
        _ = try await NATSConnection.connect(NATSSettings(servers: [server.url], identity: identity))
        await #expect(throws: NATSError.self) {
            _ = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        }
    }

    @Test func `a user shows the papers of his account`() async throws {
        let server = try await NATSServer.start(
            """
            operator: \(TestIdentities.operatorPaper)
            resolver: MEMORY
            resolver_preload: { \(TestIdentities.account): \(TestIdentities.accountPaper) }
            """, hasJetStream: false)
        let file = try server.folder.write(TestIdentities.credentials, to: "user.creds")
        _ = try await NATSConnection.connect(
            NATSSettings(servers: [server.url], identity: .credentials(file: file)))
        await #expect(throws: NATSError.self) {
            _ = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        }
    }

    @Test func `servers are believed by their certificates, and we by ours`() async throws {
        let server = try await NATSServer.start(NATSServer.tls(.trusted, asksClients: true), hasJetStream: false)
        let (url, authority) = ("tls://localhost:\(server.port)", try TestCertificates.shared.authorityFile)
        let ours = try NATSServer.clientCertificate()
        let tls = NATSSettings.TLS(
            authorityFile: authority, certificateFile: ours.certificate, keyFile: ours.key)
        _ = try await NATSConnection.connect(NATSSettings(servers: [url], tls: tls))
        await #expect(throws: NATSError.self) {
            _ = try await NATSConnection.connect(NATSSettings(servers: [url], tls: .init(authorityFile: authority)))
        }
    }

    @Test(arguments: [TestCertificates.Identity.wrongName, .selfSigned, .expired])
    func `a server with another certificate is not believed`(_ identity: TestCertificates.Identity) async throws {
        let server = try await NATSServer.start(NATSServer.tls(identity), hasJetStream: false)
        let tls = NATSSettings.TLS(authorityFile: try TestCertificates.shared.authorityFile)
        await #expect(throws: NATSError.self) {
            _ = try await NATSConnection.connect(
                NATSSettings(servers: ["tls://localhost:\(server.port)"], tls: tls))
        }
    }
}
