import AttachPrepJobs
import AttachPrepModel
import Foundation
import Logging
import PostgresDatabase
import SQLStore
import Synchronization
import TestSupport
import Testing

/// What an acknowledgment survives when the database has a synchronous standby.
@Suite(.timeLimit(.minutes(2))) struct PostgresReplicationTests {
    private func store(_ server: PostgresServer, _ name: String) async throws -> SQLJobStore {
        let database = try await PostgresDatabase.open(
            try PostgresAddress("\(server.url)?application_name=\(name)"), schema: try PostgresSchema("queue"),
            logger: Logger(label: "tests"))
        try await database.ensureSchema()
        try await StoreSchema.migrate(database)
        return try await SQLJobStore.open(
            database, seal: try SecretSeal(PostgresUnderTest.seal), files: nil, uploads: NoUploads(), feed: JobFeed())
    }

    /// Whether a commit of a store waits for the standby.
    private func waits(_ name: String, at server: PostgresServer) async throws -> Bool {
        try await server.psql(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = '\(name)'")
            != "0"
    }

    // A server that is killed while a commit waits for its standby keeps the commit. A repeated submission that is
    // answered from it would be lost if the standby, which does not have it, was promoted.
    @Test func `A repeated submission is not acknowledged before the standby has the jobs of the first`() async throws {
        let primary = try await PostgresServer.start("synchronous_standby_names = 'standby'", isDurable: true)
        let standby = try await primary.startStandby("wal_retrieve_retry_interval = 200ms")
        let first = try await store(primary, "first")
        let other = try await store(primary, "other")
        let key = IdempotencyKey(caller: "", key: "k", bodyDigest: "d")
        standby.freeze()
        let lost = Task { try await first.enqueue([.sample()], idempotency: key) }
        try await pollUntil("the commit waits for the standby") { try await waits("first", at: primary) }
        try await primary.kill()
        try await primary.startAgain()
        let isAnswered = Mutex(false)
        let repeated = Task {
            let jobs = try await other.enqueue([.sample()], idempotency: key)
            isAnswered.withLock { $0 = true }
            return jobs
        }
        try await pollUntil("the repeated submission waits or is answered") {
            if isAnswered.withLock(\.self) { return true }
            return try await waits("other", at: primary)
        }
        #expect(isAnswered.withLock { $0 } == false)
        standby.resume()
        #expect(try await repeated.value.jobs.map(\.id) == lost.value.jobs.map(\.id))
        #expect(try await standby.psql("SELECT count(*) FROM queue.job") == "1")
        await first.close()
        await other.close()
    }

    // Found by tools/faults: the repeated submission made a second job.
    @Test func `A submission that is repeated at another process during the first commit gets the same jobs`()
        async throws
    {
        let primary = try await PostgresServer.start("synchronous_standby_names = 'standby'")
        let standby = try await primary.startStandby()
        let first = try await store(primary, "first")
        let other = try await store(primary, "other")
        let key = IdempotencyKey(caller: "", key: "k", bodyDigest: "d")
        standby.freeze()
        let begun = Task { try await first.enqueue([.sample()], idempotency: key) }
        try await pollUntil("the commit waits for the standby") { try await waits("first", at: primary) }
        let repeated = Task { try await other.enqueue([.sample()], idempotency: key) }
        try await pollUntil("the repeated submission waits for the first") {
            try await primary.psql(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'other'")
                != "0"
        }
        standby.resume()
        #expect(try await repeated.value.jobs.map(\.id) == begun.value.jobs.map(\.id))
        #expect(try await first.counts().byState[.queued] == 1)
        await first.close()
        await other.close()
    }

    // A submission waited for up to 60 s behind one whose commit had been interrupted.
    @Test func `While the outcome of a commit is unknown because the database is away, other changes fail at once`()
        async throws
    {
        let server = try await PostgresServer.start(isDurable: true)
        let store = try await store(server, "first")
        try await server.psql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try await server.psql("SELECT pg_reload_conf()")
        let hasEnded = Mutex(false)
        let unknown = Task {
            defer { hasEnded.withLock { $0 = true } }
            return try await store.enqueue([.sample()], idempotency: nil)
        }
        try await pollUntil("the commit waits for the standby") { try await waits("first", at: server) }
        try await server.kill()
        await #expect(throws: AttachPrepError.self) { try await store.enqueue([.sample()], idempotency: nil) }
        #expect(hasEnded.withLock { $0 } == false)
        try await server.startAgain()
        try await server.psql("ALTER SYSTEM RESET synchronous_standby_names")
        try await server.psql("SELECT pg_reload_conf()")
        let known = try await unknown.value
        #expect(try await store.job(known.jobs[0].id)?.state == .queued)
        await store.close()
    }
}
