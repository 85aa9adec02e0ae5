import AttachPrep
import AttachPrepJobs
import Foundation
import GRDB
import RichPush
import TestSupport
import Testing

@Suite struct SQLiteGroupCommitTests {
    @Test(arguments: StoreDurability.allCases)
    func `changes at the same time are all kept`(_ durability: StoreDurability) async throws {
        let folder = try TemporaryFolder()
        do {
            let sqlite = try await SQLiteUnderTest(folder: folder, durability: durability)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<300 { group.addTask { _ = try await sqlite.driver.enqueue(.sample()) } }
                try await group.waitForAll()
            }
            await sqlite.store.close()
        }
        #expect(try await SQLiteUnderTest(folder: folder).store.counts().byState[.queued] == 300)
    }

    @Test func `one that fails takes no other with it`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let gone = JobID.make()
        let refused = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    do {
                        if number % 2 == 0 { _ = try await sqlite.driver.enqueue(.sample()) }
                        if number % 2 == 1 { _ = try await sqlite.store.cancel(gone) }
                        return 0
                    } catch is AttachPrepError {
                        return 1
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(refused == 100)
        #expect(try await sqlite.store.counts().byState[.queued] == 100)
    }

    @Test func `what a full queue refuses leaves no trace among what it took`() async throws {
        var limits = StoreLimits()
        limits.queuedJobsMax = 50
        let sqlite = try await SQLiteUnderTest(limits)
        let taken = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask { ((try? await sqlite.driver.enqueue(.sample(), .sample())) ?? []).count }
            }
            return await group.reduce(0, +)
        }
        #expect(taken == 50)
        #expect(try await sqlite.store.counts().byState[.queued] == 50)
    }

    @Test func `when the database has no room, callers hear it, and it goes on when there is some`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let id = try await sqlite.driver.enqueue(.sample())[0]
        let pages = try await sqlite.store.limitPages(to: 1)
        let error = await #expect(throws: AttachPrepError.self) {
            for _ in 0..<1_000 { _ = try await sqlite.driver.enqueue(.sample()) }
        }
        #expect(error?.code == .queueUnavailable && error?.message.contains("full") == true)
        #expect(try await sqlite.driver.job(id).state == .queued)
        _ = try await sqlite.store.limitPages(to: pages)
        for _ in 0..<100 { _ = try await sqlite.driver.enqueue(.sample()) }
    }
}
