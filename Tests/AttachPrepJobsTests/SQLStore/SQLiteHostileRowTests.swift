import AttachPrep
import AttachPrepJobs
import Foundation
import MediaTypes
import TestSupport
import Testing

/// Rows that another version, another program or a bad disk has left do not crash the process.
@Suite struct SQLiteHostileRowTests {
    /// Values of every type, and numbers out of range.
    private static let values = [
        "x'ff00'", "'text'", "1e300", "-1e300", "9223372036854775807", "-9223372036854775808", "''", "NULL",
    ]

    private static let numbers = [
        "attempts", "losses", "created_at", "started_at", "due_at", "place", "not_before", "not_after", "wait",
        "parked", "waits_since", "lease_until", "cancelling", "token", "lane", "claim_number", "calls_back",
    ]
    private static let texts = [
        "id", "state", "caller_id", "source", "error_code", "host", "key", "upload", "worker",
    ]
    private static let documents = ["request", "secret", "error", "origin"]

    /// Runs every operation of a service; unreadable rows may be errors.
    private func runAllOperations(_ sqlite: SQLiteUnderTest) async {
        let (store, far) = (sqlite.store, Date(timeIntervalSince1970: 4e9))
        for _ in 0..<3 {
            let jobs = (try? await store.claim(3, by: "worker", lease: .seconds(15), hostLimit: 16)) ?? []
            for job in jobs { _ = try? await store.finish(job.lease, .failed(.rejected(.internal)), notice: .sample()) }
            _ = try? await store.claimOverdue(3, by: "worker", lease: .seconds(15), waitSecondsMax: 60)
            _ = try? await store.claimWebhooks(9, lease: .seconds(60))
            sqlite.clock.advance(16)
        }
        _ = try? await store.list(JobFilter(), after: nil, limit: 100)
        _ = try? await store.counts()
        _ = try? await store.nextDue()
        _ = try? await store.pace(until: far)
        _ = try? await store.webhooks(WebhookFilter(), after: nil, limit: 100)
        _ = try? await store.replayWebhooks(WebhookFilter())
        _ = try? await store.retry(JobFilter())
        _ = try? await store.sweep()
        _ = try? await store.campaigns(after: nil, limit: 100)
    }

    @Test(arguments: numbers + texts + documents)
    func `A job column with a value of any type does not crash the process`(column: String) async throws {
        let sqlite = try await SQLiteUnderTest()
        for value in Self.values {
            _ = try await sqlite.driver.enqueue(.sample(headers: ["a": "b"]), .sample())
            _ = try? await sqlite.driver.claim()
            try? await sqlite.store.alter(
                "UPDATE OR IGNORE job SET \(column) = \(value) WHERE rowid > (SELECT max(rowid) - 2 FROM job)")
            await runAllOperations(sqlite)
        }
        await sqlite.store.close()
        // The next process reclaims what it finds.
        let next = try await sqlite.restarted()
        await runAllOperations(next)
        await next.store.close()
    }

    @Test(arguments: [
        "id", "state", "caller_id", "source", "error_code", "created_at", "started_at", "finished_at", "media", "kind",
        "request", "secret", "result", "error",
    ])
    func `A column of a finished job with a value of any type does not crash the process`(
        column: String
    ) async throws {
        let sqlite = try await SQLiteUnderTest()
        for value in Self.values {
            _ = try await sqlite.driver.ended(.succeeded(.sample(), .make()))
            _ = try await sqlite.driver.ended(.failed(.rejected(.internal)), .sample(headers: ["a": "b"]))
            try? await sqlite.store.alter(
                """
                UPDATE OR IGNORE finished_job SET \(column) = \(value)
                WHERE rowid > (SELECT max(rowid) - 2 FROM finished_job)
                """
            )
            await runAllOperations(sqlite)
        }
        await sqlite.store.close()
    }

    @Test(arguments: [
        "state", "host", "url", "event", "body", "attempts", "created_at", "next_at", "lease_until", "ended_at",
        "last_status", "last_error", "id", "secret",
    ])
    func `A webhook column with a value of any type does not crash the process`(column: String) async throws {
        let sqlite = try await SQLiteUnderTest()
        for value in Self.values {
            try await OutboxConformance.addWebhooks(sqlite.driver, "https://hooks.example/?token=a")
            try? await sqlite.store.alter(
                "UPDATE OR IGNORE webhook SET \(column) = \(value) WHERE rowid = (SELECT max(rowid) FROM webhook)")
            await runAllOperations(sqlite)
        }
        await sqlite.store.close()
    }

    @Test func `A job beside an unreadable one is claimed`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let ids = try await sqlite.driver.enqueue(.sample(), .sample())
        try await sqlite.store.alter("UPDATE job SET request = x'00ff' WHERE id = '\(ids[0])'")
        #expect(try await sqlite.driver.claim(10).map(\.job.id) == [ids[1]])
        await sqlite.store.close()
    }
}
