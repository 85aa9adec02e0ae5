import AttachPrep
import AttachPrepJobs
import Foundation
import RichPush
import Synchronization
import TestSupport
import Testing

/// The mark in the folder of a process that crashed with SIGILL, or was killed.
enum ExitMark: String, Sendable {
    case crashed = "crashed 04      \n"
    case killed = "running         \n"
}

extension JobQueueConformance {
    /// Only the job that crashes its process is given up.
    static let crashes: [Behavior] = [
        Behavior("A job whose process crashed is due after one second, with its crash counted") { driver in
            let id = try await driver.enqueue(.sample())[0]
            _ = try await driver.claimOne()
            let next = try await driver.restarted(.crashed)
            #expect(try await next.claim().isEmpty)
            next.clock.advance(1.1)
            let job = try await next.claimSoon()[0]
            #expect(
                job.job.id == id && job.crashes == 1 && job.losses == 0 && job.failures == 0 && job.job.attempts == 2)
        },
        Behavior("After a crash, each job that was in flight runs alone") { driver in
            let ids = try await driver.enqueue(.sample(), .sample(), .sample())
            #expect(try await driver.claim(3).count == 3)
            let next = try await driver.restarted(.crashed)
            next.clock.advance(1.1)
            var seen: Set<JobID> = []
            for _ in ids {
                let jobs = try await next.claimSoon(10)
                #expect(jobs.count == 1)
                #expect(try await next.claim(10).isEmpty)
                guard let job = jobs.first else { return }
                seen.insert(job.job.id)
                _ = try await next.jobs.finish(job.lease, .succeeded(.sample(), .make()), notice: nil)
            }
            #expect(seen == Set(ids))
            #expect(try await next.claim(10).isEmpty)
        },
        Behavior("Other jobs wait while one runs alone, and run before the next one") { driver in
            let suspects = try await driver.enqueue(.sample(), .sample())
            #expect(try await driver.claim(2).count == 2)
            let next = try await driver.restarted(.crashed)
            next.clock.advance(1.1)
            let first = try await next.claimSoon()[0]
            let others = try await next.enqueue(.sample(), .sample())
            #expect(try await next.claim(10).isEmpty)
            _ = try await next.jobs.finish(first.lease, .succeeded(.sample(), .make()), notice: nil)
            let second = try await next.claimSoon(10)
            #expect(Set(second.map(\.job.id)) == Set(others))
            // The second suspect waits until the jobs in flight have ended, and no other job starts.
            _ = try await next.enqueue(.sample())
            #expect(try await next.claim(10).isEmpty)
            for job in second { _ = try await next.jobs.finish(job.lease, .succeeded(.sample(), .make()), notice: nil) }
            let third = try await next.claimSoon(10)
            #expect(third.count == 1 && third.allSatisfy { suspects.contains($0.job.id) && $0.crashes == 1 })
        },
        Behavior("Crashes accumulate, and a manual retry resets them") { driver in
            let id = try await driver.enqueue(.sample())[0]
            _ = try await driver.claimOne()
            var driver = driver
            for crashes in 1...3 {
                driver = try await driver.restarted(.crashed)
                driver.clock.advance(60)
                let job = try await driver.claimSoon()[0]
                #expect(job.crashes == crashes)
                if crashes == 3 {
                    _ = try await driver.jobs.finish(job.lease, .dead(.rejected(.jobCrashedService)), notice: nil)
                }
            }
            #expect(try await driver.job(id).error?.code == .jobCrashedService)
            _ = try await driver.jobs.retry(id)
            let again = try await driver.claimOne()
            #expect(again.crashes == 0 && again.losses == 0)
        },
        Behavior("A job that runs alone still does so after a failed attempt") { driver in
            let ids = try await driver.enqueue(.sample(), .sample())
            #expect(try await driver.claim(2).count == 2)
            let next = try await driver.restarted(.crashed)
            next.clock.advance(1.1)
            let first = try await next.claimSoon()[0]
            #expect(try await next.jobs.postpone(first.lease, until: next.clock.now + 5, error: .sample()))
            let second = try await next.claimSoon(10)
            #expect(second.count == 1 && second.first?.job.id != first.job.id)
            for job in second { _ = try await next.jobs.finish(job.lease, .succeeded(.sample(), .make()), notice: nil) }
            next.clock.advance(6)
            let again = try await next.claimSoon(10)
            #expect(again.map(\.job.id) == [first.job.id] && ids.contains(first.job.id) && again.first?.crashes == 1)
        },
        Behavior("The jobs of a killed process count no crash and are claimed together") { driver in
            _ = try await driver.enqueue(.sample(), .sample())
            #expect(try await driver.claim(2).count == 2)
            let next = try await driver.restarted(.killed)
            next.clock.advance(16)
            var jobs: [ClaimedJob] = []
            while jobs.count < 2 { jobs += try await next.claimSoon(10) }
            #expect(jobs.allSatisfy { $0.crashes == 0 && $0.losses == 1 })
        },
        Behavior("A cancelled job is not claimed again after a crash") { driver in
            let id = try await driver.enqueue(.sample(headers: ["Authorization": "Bearer x"]))[0]
            _ = try await driver.claimOne()
            _ = try await driver.jobs.cancel(id)
            let next = try await driver.restarted(.crashed)
            next.clock.advance(20)
            #expect(try await next.claim().isEmpty)
            #expect(try await next.job(id).state == .cancelled)
        },
    ]
}

extension DriverUnderTest {
    /// Claims until there is a job: servers redeliver the messages of an ended process after its lease.
    func claimSoon(_ count: Int = 1) async throws -> [ClaimedJob] {
        let claimed = Mutex<[ClaimedJob]>([])
        try await pollUntil("a job is claimed", seconds: 30) {
            let jobs = try await jobs.claim(count, by: "worker", lease: .seconds(15), hostLimit: 16)
            claimed.withLock { $0 = jobs }
            return !jobs.isEmpty
        }
        return claimed.withLock { $0 }
    }
}

extension TemporaryFolder {
    /// Overwrites the beginning of a file with a mark, like a process that ends.
    func overwrite(_ name: String, with mark: ExitMark) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path(name)))
        try file.write(contentsOf: Data(mark.rawValue.utf8))
        try file.close()
    }
}
