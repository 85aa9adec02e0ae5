import Dispatch
import PostgresDatabase
import SQLStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct PostgresDiagnosticsTests {
    @Test func `Diagnostics name what the server is and how its tables are`() async throws {
        let server = try await PostgresServer.start()
        let database = try await PostgresDatabase.forTest("diagnosed", on: server)
        try await database.transact(.parallel) {
            try $0.run("CREATE TABLE job (id bigint) WITH (autovacuum_enabled = false, fillfactor = 80)")
            try $0.run("INSERT INTO job SELECT generate_series(1, 100)")
        }
        try await database.transact(.parallel) { try $0.run("DELETE FROM job WHERE id <= 60") }
        try await server.psql("SELECT pg_create_physical_replication_slot('forgotten', true)")
        let held = try server.startPSQL("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; SELECT pg_sleep(100)")
        defer { held.send(15) }
        try await pollUntil("the old transaction and the counts") {
            let health = try await database.health()
            return health.deadRows == 60 && (health.oldestTransactionSeconds ?? -1) >= 1
        }
        let found = try await database.diagnostics()
        #expect(found.serverVersion.split(separator: ".").first.map { Int($0) ?? 0 } ?? 0 >= 15)
        #expect(found.host == "127.0.0.1:\(server.port)")
        #expect(found.role == "postgres" && found.mayCreateTables && found.seesOtherSessions)
        #expect(!found.isPooled && !found.isInRecovery && found.tls == nil)
        #expect(found.tables.map(\.name) == ["item", "job"])
        #expect(found.tables[1].settings == "autovacuum_enabled=false, fillfactor=80")
        #expect(found.slots.map(\.name) == ["forgotten"])
        #expect(found.slots[0].isActive == false && (found.slots[0].keptBytes ?? -1) >= 0)
        #expect(!found.durability.fsync && found.durability.synchronousStandbys == 0)
    }

    @Test(
        arguments: [
            (true, true, "on", "", nil, "not the loss of the primary's disk"),
            (true, true, "on", "ANY 1 (a, b)", 1, "and the loss of the primary"),
            (true, true, "remote_apply", "a", nil, "and the loss of the primary"),
            (true, true, "remote_write", "a", 1, "unless the standby loses power"),
            (true, true, "local", "a", 1, "synchronous_commit is local"),
            (true, true, "on", "a", 0, "not acknowledged"), (false, true, "on", "a", 1, "fsync is off"),
            (true, false, "on", "", nil, "full_page_writes is off"), (true, true, "off", "a", 1, "may be lost"),
        ] as [(Bool, Bool, String, String, Int?, String)])
    func `A sentence says what an acknowledgment survives`(
        _ fsync: Bool, _ pages: Bool, _ commit: String, _ names: String, _ standbys: Int?, _ expected: String
    ) {
        let durability = PostgresDurability(
            fsync: fsync, fullPageWrites: pages, synchronousCommit: commit, synchronousStandbyNames: names,
            synchronousStandbys: standbys)
        #expect(durability.sentence.contains(expected), "\(durability.sentence)")
    }
}
