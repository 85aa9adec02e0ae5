import NATS
import TestSupport
import Testing

@Suite struct NATSConnectionTests {
    @Test func `A request to a subject without subscribers fails immediately`() async throws {
        let server = try await NATSServer.start()
        let connection = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        await #expect(throws: NATSError.noResponders(subject: "nobody.here")) {
            _ = try await connection.request(OutgoingMessage("nobody.here"))
        }
    }

    @Test func `Connecting to a server that is not running fails`() async throws {
        let server = try await NATSServer.start()
        let url = server.url
        server.kill()
        try await server.waitUntilGone()
        await #expect(throws: NATSError.self) { _ = try await NATSConnection.connect(NATSSettings(servers: [url])) }
    }

    @Test func `A message over the server's payload limit is not sent`() async throws {
        let server = try await NATSServer.start("max_payload: 1000")
        let connection = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        let error = await #expect(throws: NATSError.self) {
            _ = try await connection.request(OutgoingMessage("any", [UInt8](repeating: 0, count: 1001)))
        }
        #expect(error == .tooLarge(bytes: 1001, limit: 1000))
    }

    @Test func `When the server is lost, requests fail, and the connection is restored later`() async throws {
        let server = try await NATSServer.start()
        let connection = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        server.kill()
        try await waitUntil("the disconnect is noticed") { !connection.isConnected }
        await #expect(throws: NATSError.disconnected) { _ = try await connection.request(OutgoingMessage("any")) }
        try await server.restart()
        try await waitUntil("the connection is restored") { connection.isConnected }
        let stream = JetStream(connection)
        try await stream.ensure(StreamConfiguration("after", subjects: ["after"], description: "for a test"))
        #expect(try await stream.publish(OutgoingMessage("after")) == 1)
    }

    @Test func `A request on a closed connection fails`() async throws {
        let server = try await NATSServer.start()
        let connection = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        connection.close()
        await #expect(throws: NATSError.disconnected) { _ = try await connection.request(OutgoingMessage("any")) }
    }

    @Test func `Users and tokens authenticate, and wrong ones are rejected`() async throws {
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

    @Test func `An NKey seed authenticates its user`() async throws {
        let server = try await NATSServer.start(
            "authorization { users: [{ nkey: \(TestIdentities.publicKey) }] }", hasJetStream: false)
        let file = try server.folder.write(TestIdentities.seed, to: "seed")
        let identity = NATSSettings.Identity.nkey(seedFile: file, publicKey: TestIdentities.publicKey)
        _ = try await NATSConnection.connect(NATSSettings(servers: [server.url], identity: identity))
        await #expect(throws: NATSError.self) {
            _ = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        }
    }

    @Test func `A credentials file authenticates its user`() async throws {
        let server = try await NATSServer.start(
            """
            operator: \(TestIdentities.operatorJWT)
            resolver: MEMORY
            resolver_preload: { \(TestIdentities.account): \(TestIdentities.accountJWT) }
            """, hasJetStream: false)
        let file = try server.folder.write(TestIdentities.credentials, to: "user.creds")
        _ = try await NATSConnection.connect(
            NATSSettings(servers: [server.url], identity: .credentials(file: file)))
        await #expect(throws: NATSError.self) {
            _ = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        }
    }

    @Test func `Server and client authenticate each other with TLS certificates`() async throws {
        let server = try await NATSServer.start(NATSServer.tls(.trusted, verifiesClients: true), hasJetStream: false)
        let (url, authority) = ("tls://localhost:\(server.port)", try TestCertificates.shared.authorityFile)
        let client = try NATSServer.clientCertificate()
        let tls = NATSSettings.TLS(
            authorityFile: authority, certificateFile: client.certificate, keyFile: client.key)
        _ = try await NATSConnection.connect(NATSSettings(servers: [url], tls: tls))
        await #expect(throws: NATSError.self) {
            _ = try await NATSConnection.connect(NATSSettings(servers: [url], tls: .init(authorityFile: authority)))
        }
    }

    @Test(arguments: [TestCertificates.Identity.wrongName, .selfSigned, .expired])
    func `A server with a wrong name or an untrusted or expired certificate is rejected`(
        _ identity: TestCertificates.Identity
    ) async throws {
        let server = try await NATSServer.start(NATSServer.tls(identity), hasJetStream: false)
        let tls = NATSSettings.TLS(authorityFile: try TestCertificates.shared.authorityFile)
        await #expect(throws: NATSError.self) {
            _ = try await NATSConnection.connect(
                NATSSettings(servers: ["tls://localhost:\(server.port)"], tls: tls))
        }
    }
}

/// NKeys and JWTs that were made for these tests and give access to nothing else.
enum TestIdentities {
    /// A user's NKey seed and its public key.
    static let seed = "SUAAKVENLH3VSPAL4WZD3UZGZ4ZSGALYJHVSD4TF3NWSE2U5IEP444Y2RI"
    static let publicKey = "UCRJD4LNYFETBCRP4KONQ3BQD7HT33I27CWTNBKOBCJG7YTXH7TSLOGO"

    /// The JWT of an operator that a server trusts.
    static let operatorJWT = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJURVNUT1AiLCJpYXQiOjE3MDAwMDAwMDAsImlzcyI6I\
        k9CSVI0NzRCUTM2UTdGS0pLN0VOQTZKWTMyUkE1REhRUEJKV1lFRDRLS0RZMk5DSVBQRFlHTzQ1IiwibmFtZSI6Im9wIiwic3ViI\
        joiT0JJUjQ3NEJRMzZRN0ZLSks3RU5BNkpZMzJSQTVESFFQQkpXWUVENEtLRFkyTkNJUFBEWUdPNDUiLCJuYXRzIjp7InR5cGUiO\
        iJvcGVyYXRvciIsInZlcnNpb24iOjJ9fQ.FDnQGyYOgQ-FQaX2naJEIXGjbvzfr12TI2tPiYI0uZy4HYCsLOhSkhZqYhILI1Cca4\
        WEdvbcMgNEW147Si-oAA
        """

    /// The public key of an account.
    static let account = "AAKJ5KIRVDTN4SRFI7PEDM6BK7YIXFOJS4FWLCYIESSE6DQZCTNWBT6C"

    /// The JWT that the operator signed for the account.
    static let accountJWT = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJURVNUQUNDIiwiaWF0IjoxNzAwMDAwMDAwLCJpc3MiO\
        iJPQklSNDc0QlEzNlE3RktKSzdFTkE2SlkzMlJBNURIUVBCSldZRUQ0S0tEWTJOQ0lQUERZR080NSIsIm5hbWUiOiJhY2MiLCJzd\
        WIiOiJBQUtKNUtJUlZEVE40U1JGSTdQRURNNkJLN1lJWEZPSlM0RldMQ1lJRVNTRTZEUVpDVE5XQlQ2QyIsIm5hdHMiOnsibGlta\
        XRzIjp7InN1YnMiOi0xLCJkYXRhIjotMSwicGF5bG9hZCI6LTEsImltcG9ydHMiOi0xLCJleHBvcnRzIjotMSwid2lsZGNhcmRzI\
        jp0cnVlLCJjb25uIjotMSwibGVhZiI6LTF9LCJ0eXBlIjoiYWNjb3VudCIsInZlcnNpb24iOjJ9fQ.xOokf6Lj45W8j6rNyM1sPe\
        8lvvkkp34XQM8uPn8DUWnr0KkSfSHUpXT6lybvQ6ZSYWZsc8JazP4uuDF_XcHRBQ
        """

    /// The JWT that the account signed for a user.
    static let userJWT = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJURVNUVVNSIiwiaWF0IjoxNzAwMDAwMDAwLCJpc3MiO\
        iJBQUtKNUtJUlZEVE40U1JGSTdQRURNNkJLN1lJWEZPSlM0RldMQ1lJRVNTRTZEUVpDVE5XQlQ2QyIsIm5hbWUiOiJ1c3IiLCJzd\
        WIiOiJVQ0g0NFlIR0pMVEhNRzVBQk5HU1FIWURZQVhFRjJMS1oyNklDV1hXTUhPU01TRjM1WEk2UVJaSiIsIm5hdHMiOnsic3Vic\
        yI6LTEsImRhdGEiOi0xLCJwYXlsb2FkIjotMSwidHlwZSI6InVzZXIiLCJ2ZXJzaW9uIjoyfX0.nh1AoJdsgfE-X2wnl5gDit5GO\
        -ZkZU2-2HPcdDVIwquMmV5MNz1EkKPxaw1R-npWe3ee6HBvfXpYR2cXRfbYBA
        """

    /// The user's credentials file.
    static let credentials = """
        -----BEGIN NATS USER JWT-----
        \(userJWT)
        ------END NATS USER JWT------

        -----BEGIN USER NKEY SEED-----
        SUACVGCJXQWOZ3X32U26IAME75THJCIGS2MRYEBCHJ46QM3GYPSYT4MYNM
        ------END USER NKEY SEED------

        """
}
