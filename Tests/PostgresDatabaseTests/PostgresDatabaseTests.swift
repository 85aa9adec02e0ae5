import AttachPrepModel
import Logging
import PostgresDatabase
import SQLStore
import Synchronization
import TestSupport
import Testing

/// The server of tests that neither stop nor configure theirs.
enum SharedServer {
    private static let started = Task { try await PostgresServer.start() }

    static var server: PostgresServer { get async throws { try await started.value } }
}

extension PostgresDatabase {
    /// A database with the table `item (id text, number bigint, bytes bytea)`, in a schema of its own.
    static func forTest(
        _ schema: String, on server: PostgresServer? = nil, timeouts: PostgresTimeouts = PostgresTimeouts()
    ) async throws -> PostgresDatabase {
        var chosen = server
        if chosen == nil { chosen = try await SharedServer.server }
        guard let chosen else { throw TestError(description: "no server") }
        let database = try await open(chosen.url, schema, timeouts: timeouts)
        try await database.ensureSchema()
        try await database.transact(.exclusive) {
            try $0.run("CREATE TABLE IF NOT EXISTS item (id text PRIMARY KEY, number bigint, bytes bytea)")
        }
        return database
    }

    static func open(
        _ url: String, _ schema: String = "attachprep", timeouts: PostgresTimeouts = PostgresTimeouts(),
        milliseconds: (@Sendable () -> Int64)? = nil
    ) async throws -> PostgresDatabase {
        try await open(
            PostgresAddress(url, environment: [:]), schema: PostgresSchema(schema), logger: Logger(label: "test"),
            timeouts: timeouts, milliseconds: milliseconds)
    }

    func insert(_ id: String, _ number: Int64 = 0) async throws {
        try await transact(.parallel) {
            try $0.run("INSERT INTO item (id, number) VALUES ($1, $2)", [.text(id), .integer(number)])
        }
    }

    func ids() async throws -> [String] {
        try await read { try $0.rows("SELECT id FROM item ORDER BY id").map { $0[0] } }
    }

    /// The kind of error of a change; nil when it succeeds.
    func kindOfFailure(_ order: TransactionOrder = .parallel) async throws -> SQLError.Kind? {
        do { try await transact(order) { try $0.run("UPDATE item SET number = number + 1") } } catch let error
            as SQLError
        {
            return error.kind
        }
        return nil
    }
}

@Suite struct PostgresDatabaseTests {
    @Test func `A parameter may appear several times and in any order`() async throws {
        let database = try await PostgresDatabase.forTest("parameters")
        let row = try await database.read {
            try $0.row("SELECT CAST($2 AS text), CAST($1 AS bigint), CAST($2 AS text)", [7, "b"])
        }
        #expect(row?.values == ["b", 7, "b"])
    }

    @Test(arguments: [
        SQLValue.null, .integer(.min), .integer(.max), .integer(0), .text(""), .text("é 🎉 \u{301} \"'\\{},$1"),
        .blob([]), .blob([0, 255, 92, 39]), .blob(Array(repeating: 7, count: 300_000)),
        .text(String(repeating: "long ", count: 200_000)),
    ])
    func `Every value is returned as it was stored`(_ value: SQLValue) async throws {
        let database = try await PostgresDatabase.forTest("values")
        let type =
            switch value {
            case .integer: "bigint"
            case .blob: "bytea"
            default: "text"
            }
        let row = try await database.read { try $0.row("SELECT CAST($1 AS \(type))", [value]) }
        #expect(row?.values == [value])
    }

    @Test func `A NUL in a text becomes U+FFFD`() async throws {
        let database = try await PostgresDatabase.forTest("nul")
        let row = try await database.read { try $0.row("SELECT $1", ["a\0b"]) }
        #expect(row?.values == ["a\u{FFFD}b"])
    }

    @Test func `The elements of a list are escaped`() async throws {
        let database = try await PostgresDatabase.forTest("lists")
        let list = ["", "a", "NULL", "\"", "\\", "{},", "a b", "é", "\\\""]
        let rows = try await database.read {
            try $0.rows("SELECT value FROM \(SQLDialect.postgres.list(1, as: "entry"))", [.texts(list)])
        }
        #expect(rows.map { $0[0] as String } == list)
        let found: Int64? = try await database.read {
            try $0.number("SELECT 1 WHERE \(SQLDialect.postgres.isAmong("'\\'", 1))", [.texts(list)])
        }
        #expect(found == 1)
    }

    @Test func `Numbers, truth values and other types are read by their type`() async throws {
        let database = try await PostgresDatabase.forTest("types")
        let row = try await database.read {
            try $0.row(
                "SELECT 1::int2, 2::int4, 3::int8, 4::numeric, 12345678901234567890123::numeric, 1.5::numeric, true, "
                    + "false, 'NaN'::numeric, NULL::int8, 5::oid, '2020-01-01'::date")
        }
        #expect(
            row?.values == [
                1, 2, 3, 4, "12345678901234567890123", "1.5", 1, 0, "NaN", nil, 5, "2020-01-01",
            ])
    }

    @Test func `The number of changed rows is returned`() async throws {
        let database = try await PostgresDatabase.forTest("changes")
        try await database.insert("a")
        try await database.insert("b")
        try await database.transact(.parallel) { connection in
            let results = try connection.run([
                SQLStatement("UPDATE item SET number = 1"), SQLStatement("DELETE FROM item WHERE id = $1", ["a"]),
                SQLStatement("UPDATE item SET number = 2 WHERE id = 'none'"),
            ])
            guard results.map(\.changes) == [2, 1, 0] else { throw TestError(description: "\(results)") }
        }
    }

    @Test func `A transaction whose body throws changes nothing`() async throws {
        let database = try await PostgresDatabase.forTest("rollback")
        await #expect(throws: TestError.self) {
            try await database.transact(.parallel) {
                try $0.run("INSERT INTO item (id) VALUES ('a')")
                throw TestError(description: "stop")
            }
        }
        #expect(try await database.ids().isEmpty)
        try await database.insert("b")
        #expect(try await database.ids() == ["b"])
    }

    @Test func `A rejected statement has a sentence and the SQLSTATE, but no values`() async throws {
        let database = try await PostgresDatabase.forTest("rejected")
        try await database.insert("secret")
        let error = await #expect(throws: SQLError.self) { try await database.insert("secret") }
        #expect(error?.kind == .rejected)
        #expect(error?.message.contains("23505") == true)
        #expect(error?.detail.contains("secret") == false)
        #expect(error?.detail.contains("23505") == true)
    }

    @Test func `A transaction that goes on after a rejected statement is not committed`() async throws {
        let database = try await PostgresDatabase.forTest("goes_on")
        let error = await #expect(throws: SQLError.self) {
            try await database.transact(.parallel) {
                try $0.run("INSERT INTO item (id) VALUES ('a')")
                _ = try? $0.run("SELECT 1/0")
            }
        }
        #expect(error?.kind == .rejected)
        #expect(try await database.ids().isEmpty)
    }

    @Test func `Reads cannot change anything`() async throws {
        let database = try await PostgresDatabase.forTest("reads")
        await #expect(throws: SQLError.self) {
            try await database.read { try $0.run("INSERT INTO item (id) VALUES ('a')") }
        }
        #expect(try await database.ids().isEmpty)
    }

    @Test func `Transactions have the server's time, or that of a test`() async throws {
        let server = try await SharedServer.server
        let database = try await PostgresDatabase.forTest("clock")
        let times = Mutex<[Int64?]>([])
        try await database.transact(.exclusive) { connection in times.withLock { $0.append(connection.milliseconds) } }
        let now = try #require(
            Int64(try await server.psql("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint")))
        let first = try #require(times.withLock(\.self).first ?? nil)
        #expect(first <= now && first > now - 60_000)

        let other = try await PostgresDatabase.open(server.url, "clock", milliseconds: { 42 })
        try await other.transact(.parallel) { connection in times.withLock { $0.append(connection.milliseconds) } }
        #expect(times.withLock(\.self).last == 42)
    }
}
