import AttachPrepModel
import Dispatch
import Glibc
import Logging
import PostgresDatabase
import SQLStore
import Synchronization
import TestSupport
import Testing

/// Lets a transaction's body, which may block its thread, wait for the test.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// - Throws: `TestError` after 30 s.
    func wait() throws {
        guard semaphore.wait(timeout: .now() + 30) == .success else {
            throw TestError(description: "the gate stayed shut")
        }
    }
}

/// Counts how many bodies are between `enter` and `leave` at once.
private final class OverlapCount: Sendable {
    private let count = Mutex((now: 0, most: 0))

    var most: Int { count.withLock(\.most) }

    func enter() { count.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }

    func leave() { count.withLock { $0.now -= 1 } }
}

@Suite(.timeLimit(.minutes(2))) struct PostgresFaultTests {
    /// Short enough for a test that waits for one of them.
    private static let short = {
        var timeouts = PostgresTimeouts()
        timeouts.roundTrip = .seconds(1)
        timeouts.reconnect = .milliseconds(20)
        return timeouts
    }()

    // MARK: Conflicts

    @Test func `A deadlock ends one of two transactions as a conflict`() async throws {
        let database = try await PostgresDatabase.forTest("deadlock")
        try await database.insert("a")
        try await database.insert("b")
        let (first, second) = (Gate(), Gate())
        func change(_ order: TransactionOrder, _ ids: [String], _ own: Gate, _ other: Gate) async -> SQLError.Kind? {
            do {
                try await database.transact(order) { connection in
                    try connection.run("UPDATE item SET number = 1 WHERE id = $1", [.text(ids[0])])
                    own.open()
                    try other.wait()
                    try connection.run("UPDATE item SET number = 1 WHERE id = $1", [.text(ids[1])])
                }
                return nil
            } catch { return (error as? SQLError)?.kind }
        }
        async let one = change(.parallel, ["a", "b"], first, second)
        async let two = change(.exclusive, ["b", "a"], second, first)
        let kinds = [await one, await two]
        #expect(kinds == [nil, .conflict] || kinds == [.conflict, nil])
    }

    @Test func `Exclusive transactions of two processes never overlap`() async throws {
        let databases = [
            try await PostgresDatabase.forTest("exclusive"), try await PostgresDatabase.forTest("exclusive"),
        ]
        try await databases[0].insert("a")
        let inside = OverlapCount()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask {
                    try await databases[index % 2].transact(.exclusive) { connection in
                        let number = try connection.number("SELECT number FROM item") ?? 0
                        inside.enter()
                        try connection.run("UPDATE item SET number = $1", [.integer(number + 1)])
                        inside.leave()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(inside.most == 1)
        let total: Int64? = try await databases[0].read { try $0.number("SELECT number FROM item") }
        #expect(total == 40)
    }

    @Test func `A lock that is not free in time is a conflict`() async throws {
        var timeouts = PostgresTimeouts()
        timeouts.lock = .milliseconds(100)
        let holder = try await PostgresDatabase.forTest("lock")
        let other = try await PostgresDatabase.forTest("lock", timeouts: timeouts)
        let (held, release) = (Gate(), Gate())
        async let holding: Void = holder.transact(.exclusive) {
            try $0.run("SELECT 1")
            held.open()
            try release.wait()
        }
        try await onOwnThread { try held.wait() }
        #expect(try await other.kindOfFailure(.exclusive) == .conflict)
        release.open()
        try await holding
        #expect(try await other.kindOfFailure(.exclusive) == nil)
    }

    @Test func `A process that stops in a claim delays the others for the idle timeout only`() async throws {
        var timeouts = PostgresTimeouts()
        timeouts.idleInTransaction = .milliseconds(300)
        let stopped = try await PostgresDatabase.forTest("stopped", timeouts: timeouts)
        let other = try await PostgresDatabase.forTest("stopped")
        let (held, resumed) = (Gate(), Gate())
        let claim = Task {
            try await stopped.transact(.exclusive) {
                try $0.run("INSERT INTO item (id) VALUES ('lost')")
                held.open()
                try resumed.wait()
                try $0.run("INSERT INTO item (id) VALUES ('late')")
            }
        }
        try await onOwnThread { try held.wait() }
        #expect(try await other.kindOfFailure(.exclusive) == nil)
        resumed.open()
        let error = await #expect(throws: SQLError.self) { try await claim.value }
        #expect(error?.kind == .disconnected)
        #expect(try await other.ids().isEmpty)
    }

    @Test func `A commit after the idle timeout is known to have failed`() async throws {
        var timeouts = PostgresTimeouts()
        timeouts.idleInTransaction = .milliseconds(200)
        let server = try await SharedServer.server
        let database = try await PostgresDatabase.forTest("idle_commit", timeouts: timeouts)
        let (begun, resumed) = (Gate(), Gate())
        let change = Task {
            try await database.transact(.parallel) {
                try $0.run("INSERT INTO item (id) VALUES ('lost')")
                begun.open()
                try resumed.wait()
            }
        }
        try await onOwnThread { try begun.wait() }
        try await pollUntil("the session's end") {
            try await server.psql(
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%(''lost'')%' AND pid <> pg_backend_pid()")
                == "0"
        }
        resumed.open()
        let error = await #expect(throws: SQLError.self) { try await change.value }
        #expect(error?.kind == .disconnected)
    }

    // MARK: Servers that end or stop

    @Test func `After a killed server has started again, calls succeed`() async throws {
        let server = try await PostgresServer.start()
        let database = try await PostgresDatabase.forTest("killed", on: server, timeouts: Self.short)
        try await database.insert("a")
        try await server.kill()
        let kinds: Set<SQLError.Kind?> = [.disconnected, .unavailable]
        #expect(kinds.contains(try await database.kindOfFailure()))
        #expect(try await database.kindOfFailure() == .unavailable)
        #expect(database.unavailableReason?.contains("127.0.0.1:\(server.port)/postgres") == true)
        try await server.startAgain()
        try await pollUntil("a change") { try await database.kindOfFailure() == nil }
        #expect(database.unavailableReason == nil)
        #expect(try await database.ids() == ["a"])
    }

    @Test func `An idle connection that the server closed is opened again without an error`() async throws {
        let server = try await PostgresServer.start()
        let database = try await PostgresDatabase.forTest("idle", on: server)
        // The end of a read is not waited for, so its answer is still to be read.
        #expect(try await database.ids().isEmpty)
        try await server.restart()
        #expect(try await database.ids().isEmpty)
        try await database.insert("a")
        #expect(try await database.ids() == ["a"])
    }

    @Test func `A stopped server ends a call at its deadline, and is used again later`() async throws {
        let server = try await PostgresServer.start()
        let database = try await PostgresDatabase.forTest("frozen", on: server, timeouts: Self.short)
        server.freeze()
        #expect(try await database.kindOfFailure() == .disconnected)
        server.resume()
        try await pollUntil("a change") { try await database.kindOfFailure() == nil }
    }

    @Test func `A network that forwards nothing ends a call at its deadline`() async throws {
        let relay = try PostgresRelay(to: await SharedServer.server)
        _ = try await PostgresDatabase.forTest("silent")
        let database = try await PostgresDatabase.open(relay.url, "silent", timeouts: Self.short)
        relay.setSilent(true)
        #expect(try await database.kindOfFailure() == .disconnected)
        relay.setSilent(false)
        try await pollUntil("a change") { try await database.kindOfFailure() == nil }
    }

    @Test func `A connection that is lost in a transaction changes nothing`() async throws {
        let relay = try PostgresRelay(to: await SharedServer.server)
        let database = try await PostgresDatabase.forTest("cut")
        let relayed = try await PostgresDatabase.open(relay.url, "cut", timeouts: Self.short)
        let error = await #expect(throws: SQLError.self) {
            try await relayed.transact(.parallel) {
                try $0.run("INSERT INTO item (id) VALUES ('a')")
                relay.cutAll()
                try $0.run("INSERT INTO item (id) VALUES ('b')")
            }
        }
        #expect(error?.kind == .disconnected)
        #expect(try await database.ids().isEmpty)
        try await relayed.insert("c")
        #expect(try await database.ids() == ["c"])
    }

    @Test(arguments: [true, false])
    func `A connection that is lost during a commit leaves it unknown`(_ isForwarded: Bool) async throws {
        let schema = "commit_\(isForwarded)"
        let relay = try PostgresRelay(to: await SharedServer.server)
        let database = try await PostgresDatabase.forTest(schema)
        let relayed = try await PostgresDatabase.open(relay.url, schema, timeouts: Self.short)
        relay.cutAtRequest(with: "COMMIT\0", isForwarded: isForwarded)
        let error = await #expect(throws: SQLError.self) { try await relayed.insert("a") }
        #expect(error?.kind == .unknownCommit)
        if isForwarded { try await pollUntil("the row") { try await database.ids() == ["a"] } }
        try await relayed.insert("b")
        #expect(try await database.ids() == (isForwarded ? ["a", "b"] : ["b"]))
    }

    // MARK: Synchronous standbys

    @Test func `A commit that no synchronous standby confirms is never reported as done`() async throws {
        var timeouts = Self.short
        timeouts.statement = .milliseconds(200)
        let server = try await PostgresServer.start()
        let database = try await PostgresDatabase.forTest("synchronous", on: server, timeouts: timeouts)
        try await server.psql("ALTER SYSTEM SET synchronous_standby_names = 'none'")
        try await server.psql("SELECT pg_reload_conf()")
        let waiter = try server.startPSQL("CREATE TABLE other (id text)")
        defer { waiter.send(SIGTERM) }
        try await pollUntil("a commit that waits") {
            try await server.psql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "1"
        }
        let error = await #expect(throws: SQLError.self) { try await database.insert("a") }
        #expect(error?.kind == .unknownCommit)

        // An operator who cancels the wait does not make it true either.
        let patient = try await PostgresDatabase.open(server.url, "synchronous")
        let waiting = Task { try await patient.insert("b") }
        try await pollUntil("a canceled wait") {
            try await server.psql(
                "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity "
                    + "WHERE wait_event = 'SyncRep' AND application_name = 'attachprep'") != "0"
        }
        let canceled = await #expect(throws: SQLError.self) { try await waiting.value }
        #expect(canceled?.kind == .unknownCommit)
    }

    @Test func `With several hosts, a promoted standby takes over`() async throws {
        let primary = try await PostgresServer.start()
        let standby = try await primary.startStandby()
        let hosts = "127.0.0.1:\(primary.port),127.0.0.1:\(standby.port)"
        _ = try await PostgresDatabase.forTest("failover", on: primary)
        let database = try await PostgresDatabase.open(
            "postgres://postgres@\(hosts)/postgres", "failover", timeouts: Self.short)
        try await database.insert("a")
        try await pollUntil("the copy") {
            (try? await standby.psql("SELECT count(*) FROM failover.item")) == "1"
        }
        try await primary.kill()
        #expect(try await database.kindOfFailure() != nil)
        try await standby.promote()
        try await pollUntil("a change") { try await database.kindOfFailure() == nil }
        #expect(try await database.ids() == ["a"])
    }

    @Test func `A primary that becomes read-only is left`() async throws {
        let server = try await PostgresServer.start()
        let database = try await PostgresDatabase.forTest("demoted", on: server, timeouts: Self.short)
        try await server.psql("ALTER SYSTEM SET default_transaction_read_only = on")
        try await server.psql("SELECT pg_reload_conf()")
        try await pollUntil("the setting") { try await database.kindOfFailure() == .unavailable }
        #expect(database.unavailableReason?.contains("accepts no changes") == true)
    }

    // MARK: Limits

    @Test func `A result that is too large ends the connection, not the process`() async throws {
        let database = try await PostgresDatabase.forTest("large")
        let error = await #expect(throws: SQLError.self) {
            try await database.read { try $0.rows("SELECT repeat('x', 1000000) FROM generate_series(1, 100)") }
        }
        #expect(error?.kind == .disconnected)
        #expect(try await database.ids().isEmpty)
    }

    @Test func `A statement that takes too long is canceled`() async throws {
        var timeouts = PostgresTimeouts()
        timeouts.statement = .milliseconds(100)
        let database = try await PostgresDatabase.forTest("slow", timeouts: timeouts)
        let error = await #expect(throws: SQLError.self) {
            try await database.transact(.parallel) { try $0.run("SELECT pg_sleep(60)") }
        }
        #expect(error?.kind == .unavailable)
        #expect(error?.detail.contains("57014") == true)
    }

    @Test func `More parameters than a message can have are rejected`() async throws {
        let database = try await PostgresDatabase.forTest("many")
        let error = await #expect(throws: SQLError.self) {
            try await database.read { try $0.rows("SELECT 1", Array(repeating: 1, count: 65_536)) }
        }
        #expect(error?.kind == .rejected)
        #expect(try await database.ids().isEmpty)
    }

    @Test func `A closed database is unavailable`() async throws {
        let database = try await PostgresDatabase.forTest("closed")
        await database.close()
        #expect(try await database.kindOfFailure() == .unavailable)
        var events: [SQLNotification] = []
        for await event in database.notifications { events.append(event) }
        #expect(events.count <= 3)
    }
}
