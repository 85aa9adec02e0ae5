import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import GRDB
import MediaTypes
import TestSupport
import Testing

@Suite struct GroupCommitTests {
    @Test(arguments: StoreDurability.allCases)
    func `Concurrent changes are all stored`(_ durability: StoreDurability) async throws {
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

    @Test func `A change that fails does not roll back others`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let gone = JobID.make()
        let rejected = try await withThrowingTaskGroup(of: Int.self) { group in
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
        #expect(rejected == 100)
        #expect(try await sqlite.store.counts().byState[.queued] == 100)
    }

    @Test func `Submissions that a full queue rejects leave no rows`() async throws {
        var limits = StoreLimits()
        limits.queuedJobsMax = 50
        let sqlite = try await SQLiteUnderTest(limits)
        let accepted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask { ((try? await sqlite.driver.enqueue(.sample(), .sample())) ?? []).count }
            }
            return await group.reduce(0, +)
        }
        #expect(accepted == 50)
        #expect(try await sqlite.store.counts().byState[.queued] == 50)
    }

    @Test func `A full database is reported to callers, and writes succeed once there is space`() async throws {
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
