import AttachPrepModel
import Foundation
import Logging
import SQLStore
import TestSupport
import Testing

@testable import PostgresDatabase

@Suite struct PostgresAddressTests {
    private static let system = "/etc/ssl/certs/ca-certificates.crt"

    private static func parameters(
        _ url: String, _ environment: [String: String] = [:], files: [String] = [system]
    ) throws -> [String: String] {
        let address = try PostgresAddress(url, environment: environment) { files.contains($0) }
        return Dictionary(uniqueKeysWithValues: address.connectionParameters().map { ($0.keyword, $0.value) })
    }

    @Test(arguments: [
        ("postgres://me@db1,db2:5433/push?sslmode=require", "me@db1,db2/push"),
        ("postgresql://me@db1:6000,db2:6001/push", "me@db1:6000,db2:6001/push"),
        ("postgres://db/push", "db/push"), ("postgres:///push?host=/run/postgresql&user=me", "me@/run/postgresql/push"),
        ("postgres://?service=queue", "service queue"), ("postgres://[::1]:5432/a", "::1:5432/a"),
        ("postgres://", "postgres://"), ("postgres://a%0Ab@h/", "a\\u{a}b@h"),
    ])
    func `An address is described by user, hosts and database`(_ url: String, _ description: String) throws {
        let shown = try PostgresAddress(url, environment: [:]).description
        #expect(shown == description || shown == description.replacing("db1,db2/", with: "db1,db2:5433/"))
    }

    @Test(arguments: [
        "postgres://me:pw@host/db", "postgres://me:pw@h1,h2/db", "postgresql://host/db?password=pw",
        "postgres://host/db?pass%77ord=pw", "postgres://host/db?sslpassword=pw",
    ])
    func `A password in the URL is refused`(_ url: String) throws {
        let error = #expect(throws: AttachPrepError.self) { try PostgresAddress(url, environment: [:]) }
        #expect(error?.code == .requestInvalid)
        #expect(error?.message.contains("PGPASSFILE") == true)
        #expect(error?.description.contains("pw") == false)
    }

    @Test(arguments: [
        "", "host=db", "nats://host", "postgres://host/db?nonsense=1", "postgres://host/%zz", "postgres://[::1/db",
        "postgres://user@host:pass:word/db?nonsense",
    ])
    func `A malformed URL is refused`(_ url: String) throws {
        let error = #expect(throws: AttachPrepError.self) { try PostgresAddress(url, environment: [:]) }
        #expect(error?.code == .requestInvalid)
        #expect(error?.detail?.contains("word") != true)
    }

    @Test func `What the URL does not say has defaults`() throws {
        let one = try Self.parameters("postgres://me@db/push")
        #expect(one["fallback_application_name"] == "attachprep")
        #expect(one["connect_timeout"] == "5")
        #expect(one["tcp_user_timeout"] == "15000")
        #expect(one["client_encoding"] == "UTF8")
        #expect(one["target_session_attrs"] == nil)
        #expect(one["options"] == nil)
        #expect(one["sslrootcert"] == nil)
        #expect(try Self.parameters("postgres://a,b/push")["target_session_attrs"] == "read-write")
        #expect(try Self.parameters("postgres://?service=queue")["target_session_attrs"] == "read-write")
        #expect(try Self.parameters("postgres:///push", ["PGHOST": "a,b"])["target_session_attrs"] == "read-write")
    }

    @Test func `The URL and the environment replace defaults`() throws {
        let given = try Self.parameters(
            "postgres://a,b/push?target_session_attrs=any&connect_timeout=9&tcp_user_timeout=1&client_encoding=LATIN1"
                + "&options=-cwork_mem%3D8MB&application_name=x")
        #expect(given["target_session_attrs"] == "any")
        #expect(given["connect_timeout"] == "9")
        #expect(given["tcp_user_timeout"] == "1")
        #expect(given["client_encoding"] == "UTF8")
        #expect(given["options"] == "-cwork_mem=8MB")
        #expect(given["application_name"] == "x")
        let variables = ["PGCONNECT_TIMEOUT": "3", "PGTARGETSESSIONATTRS": "primary"]
        let left = try Self.parameters("postgres://a,b/push", variables)
        #expect(left["connect_timeout"] == nil)
        #expect(left["target_session_attrs"] == nil)
    }

    @Test(
        arguments: [
            ("sslmode=verify-full", [:], [system], system), ("sslmode=verify-ca", [:], [system], system),
            ("sslmode=require", [:], [system], nil), ("", [:], [system], nil),
            ("", ["PGSSLMODE": "verify-full"], [system], system),
            ("sslmode=verify-full&sslrootcert=/own.pem", [:], [system], "/own.pem"),
            ("sslmode=verify-full", ["PGSSLROOTCERT": "/own.pem"], [system], "/own.pem"),
            (
                "sslmode=verify-full", ["HOME": "/home/me"], [system, "/home/me/.postgresql/root.crt"],
                "/home/me/.postgresql/root.crt"
            ),
            ("sslmode=verify-full&sslrootcert=system", [:], [system], system),
            ("sslmode=verify-full", [:], ["/etc/pki/tls/certs/ca-bundle.crt"], "/etc/pki/tls/certs/ca-bundle.crt"),
            ("sslmode=verify-full", [:], [], nil),
        ] as [(String, [String: String], [String], String?)])
    func `A verified certificate without a root file uses the system's`(
        _ query: String, _ environment: [String: String], _ files: [String], _ expected: String?
    ) throws {
        let parameters = try Self.parameters("postgres://h/d?\(query)", environment, files: files)
        #expect(parameters["sslrootcert"] == expected)
    }

    @Test(arguments: ["", "1a", "_a", "a-b", "a\"b", "é", "a b", "a.b", String(repeating: "a", count: 49)])
    func `A schema's name has letters, digits and underscores only`(_ name: String) {
        let error = #expect(throws: AttachPrepError.self) { try PostgresSchema(name) }
        #expect(error?.code == .requestInvalid)
    }

    @Test(
        arguments: [
            (
                "connection to server at \"a\", port 5432 failed: Connection refused\n\tIs the server running?\n"
                    + "connection to server at \"b\", port 5432 failed: session is read-only\n", .readOnly, true
            ),
            (
                "connection to server at \"a\", port 5432 failed: FATAL:  database \"push\" does not exist\n",
                .noDatabase, false
            ),
            ("connection to server at \"a\", port 5432 failed: FATAL:  role \"me\" does not exist\n", .noRole, false),
            ("connection to server at \"a\", port 5432 failed: SSL SYSCALL error: EOF detected\n", .other, true),
            (
                "connection to server at \"a\", port 5432 failed: SSL error: certificate verify failed\n", .certificate,
                false
            ),
            (
                "connection to server at \"a\" failed: FATAL:  no pg_hba.conf entry for host, SSL off\n", .notAllowed,
                false
            ),
            ("connection to server at \"a\" failed: FATAL:  sorry, too many connections already\n", .full, true),
            ("connection to server at \"a\" failed: FATAL:  le système de bases de données se lance\n", .other, true),
        ] as [(String, ConnectFailure.Reason, Bool)])
    func `The text of a failed connection tells the reason`(
        _ text: String, _ reason: ConnectFailure.Reason, _ isRetryable: Bool
    ) {
        let failure = ConnectFailure(text)
        #expect(failure.reason == reason && failure.isRetryable == isRetryable)
        #expect(!failure.text.contains("\\u{") && !failure.text.hasSuffix(";"))
    }

    @Test func `A text of the server is kept without its DETAIL`() {
        let text = "connection to server at \"a\" failed: FATAL:  no\nDETAIL:  secret\nsecret\nHINT:  secret\n"
        let two = ConnectFailure(text + "connection to server at \"b\" failed: Connection refused\n").text
        #expect(!two.contains("secret") && two.contains("at \"b\""))
    }

    @Test func `The lock of a schema never changes`() throws {
        #expect(try PostgresSchema("attachprep").lockKey == -784_613_075_091_069_254)
        #expect(try PostgresSchema("a").lockKey != PostgresSchema("b").lockKey)
        #expect(try PostgresSchema("Attach_2").name == "Attach_2")
    }
}

@Suite(.timeLimit(.minutes(2))) struct PostgresConnectionTests {
    private static func openingError(_ url: String) async -> AttachPrepError? {
        do { _ = try await PostgresDatabase.open(url) } catch { return error as? AttachPrepError }
        return nil
    }

    @Test func `TLS with verify-full accepts the right name only`() async throws {
        let authority = try TestCertificates.shared.authorityFile
        let verified = "?sslmode=verify-full&sslrootcert=\(authority)"
        let server = try await PostgresServer.start(tls: .trusted)
        let database = try await PostgresDatabase.open(server.url + verified)
        let diagnostics = try await database.diagnostics()
        #expect(diagnostics.tls?.hasPrefix("TLS") == true)
        #expect(diagnostics.rootCertificateFile == authority)
        // Larger than one record of TLS.
        let text: String? = try await database.read { try $0.row("SELECT repeat('x', 3000000)")?[0] }
        #expect(text?.utf8.count == 3_000_000)

        let wrong = try await PostgresServer.start(tls: .wrongName)
        let error = await Self.openingError(wrong.url + verified)
        #expect(error?.code == .queueUnavailable)
        #expect(error?.isRetryable == false)
        #expect(error?.message.contains("TLS failed") == true)
        let plain = await Self.openingError(try await SharedServer.server.url + verified)
        #expect(plain?.isRetryable == false)
    }

    @Test func `A password comes from a file`() async throws {
        let server = try await PostgresServer.start(access: "host all queue 127.0.0.1/32 scram-sha-256")
        try await server.psql("CREATE ROLE queue LOGIN PASSWORD 'right'")
        let folder = try TemporaryFolder()
        func url(_ password: String) throws -> String {
            let file = try folder.write("127.0.0.1:\(server.port):*:queue:\(password)\n", to: password)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            return "postgres://queue@127.0.0.1:\(server.port)/postgres?passfile=\(file)"
        }
        _ = try await PostgresDatabase.open(try url("right"))
        for error in [
            await Self.openingError(try url("wrong")),
            await Self.openingError("postgres://queue@127.0.0.1:\(server.port)/postgres?passfile=/dev/null"),
        ] {
            #expect(error?.code == .queueUnavailable)
            #expect(error?.isRetryable == false)
            #expect(error?.message.contains("PGPASSFILE") == true)
            #expect(
                error?.description.contains("wrong") != true || error?.description.contains("missing or wrong") == true)
        }
    }

    @Test func `An error of opening names the database and what to do`() async throws {
        let server = try await SharedServer.server
        let port = try PostgresServer.freePort()
        let refused = await Self.openingError("postgres://me@127.0.0.1:\(port)/push")
        #expect(refused?.isRetryable == true)
        #expect(refused?.message.contains("me@127.0.0.1:\(port)/push") == true)
        #expect(refused?.message.contains("start PostgreSQL") == true)
        let missing = await Self.openingError("postgres://postgres@127.0.0.1:\(server.port)/nothing")
        #expect(missing?.isRetryable == false)
        #expect(missing?.message.contains("no such database") == true)
        let role = await Self.openingError("postgres://nobody@127.0.0.1:\(server.port)/postgres")
        #expect(role?.message.contains("no such role") == true)
        let unknown = await Self.openingError("postgres://me@nothing.invalid/push")
        #expect(unknown?.message.contains("does not resolve") == true)
    }

    @Test func `With the roles of deploy, services change rows and only the owner changes tables`() async throws {
        let server = try await PostgresServer.start()
        let script = try String(contentsOfFile: SourceTree.path("deploy/cluster/roles.sql"), encoding: .utf8)
        try await server.psql(script)
        func url(_ role: String) -> String { "postgres://\(role)@127.0.0.1:\(server.port)/postgres" }
        let owner = try await PostgresDatabase.open(url("attachprep_owner"))
        try await owner.ensureSchema()
        try await owner.transact(.exclusive) {
            try $0.run("CREATE TABLE item (id text PRIMARY KEY, number bigint)")
            try $0.run("CREATE TABLE event (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text)")
        }
        let service = try await PostgresDatabase.open(url("attachprep"))
        try await service.ensureSchema()
        try await service.insert("a")
        try await service.transact(.parallel) { try $0.run("INSERT INTO event (id) VALUES ('a')") }
        #expect(try await owner.ids() == ["a"])
        let denied = await #expect(throws: SQLError.self) {
            try await service.transact(.exclusive) { try $0.run("CREATE TABLE other (id text)") }
        }
        #expect(denied?.kind == .rejected)
        #expect(denied?.message.contains("denied a permission") == true)
        let diagnostics = try await service.diagnostics()
        #expect(diagnostics.role == "attachprep" && !diagnostics.mayCreateTables && diagnostics.seesOtherSessions)

        let other = try await PostgresDatabase.open(url("attachprep"), "missing")
        let error = await #expect(throws: SQLError.self) { try await other.ensureSchema() }
        #expect(error?.kind == .rejected)
        #expect(error?.detail.contains("42501") == true)
    }
}
