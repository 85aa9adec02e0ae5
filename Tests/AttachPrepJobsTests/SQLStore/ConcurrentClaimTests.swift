import AttachPrepJobs
import TestSupport
import Testing

/// Many callers of one process, and several processes, at the same time.
@Suite struct ConcurrentClaimTests {
    /// Each enqueues a job, claims one and ends it, again and again.
    private static func roundTrips(_ stores: [any JobQueue], callers: Int, rounds: Int) async throws -> [JobID] {
        try await withThrowingTaskGroup(of: [JobID].self) { group in
            for caller in 0..<callers {
                let store = stores[caller % stores.count]
                group.addTask {
                    var ended: [JobID] = []
                    for round in 0..<rounds {
                        _ = try await store.enqueue(
                            [.sample(host: "cdn\(caller).example", key: "\(caller) \(round)")], idempotency: nil)
                        for job in try await store.claim(1, by: "worker", lease: .seconds(60), hostLimit: 16) {
                            let isHeld = try await store.finish(job.lease, .cancelled, notice: nil)
                            #expect(isHeld)
                            ended.append(job.job.id)
                        }
                    }
                    return ended
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    @Test
    func
        `In PostgreSQL, every caller of two processes can claim a job for the one it enqueued, and none twice`()
        async throws
    {
        let first = try await PostgresUnderTest()
        let second = try await first.other()
        let ended = try await Self.roundTrips([first.store, second.store], callers: 300, rounds: 10)
        #expect(ended.count == 3_000 && Set(ended).count == 3_000)
        let counts = try await first.store.counts()
        #expect(counts.byState[.queued] == 0 && counts.byState[.running] == 0 && counts.byState[.cancelled] == 3_000)
        await first.close()
        await second.close()
    }

    @Test func `In SQLite, every caller can claim a job for the one it enqueued, and none twice`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let ended = try await Self.roundTrips([sqlite.store], callers: 300, rounds: 10)
        #expect(ended.count == 3_000 && Set(ended).count == 3_000)
        await sqlite.store.close()
    }
}
