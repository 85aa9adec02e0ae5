import AttachPrep
import AttachPrepJobs
import Foundation
import MediaTypes
import Synchronization
import TestSupport
import Testing

extension JobQueueConformance {
    /// A job whose worker was lost is retried later each time, and given up after ten losses.
    static let losses: [Behavior] = [
        Behavior("The jobs of a killed process are claimed again after a delay, each with one loss") { driver in
            let ids = try await driver.enqueue(.sample(), .sample())
            #expect(try await driver.claim(2).count == 2)
            let next = try await driver.restarted()
            #expect(try await next.claim(2).isEmpty)
            let jobs = try await next.claimLater(2)
            #expect(Set(jobs.map(\.job.id)) == Set(ids))
            #expect(jobs.allSatisfy { $0.losses == 1 && $0.failures == 0 && $0.job.attempts == 2 })
        },
        Behavior("Each loss delays a job longer: by about 1, 4, 15, 60 and 240 s") { driver in
            _ = try await driver.enqueue(.sample())
            _ = try await driver.claimOne()
            for (losses, seconds) in [(1, 1.0), (2, 4), (3, 15), (4, 60), (5, 240), (6, 240)] {
                driver.clock.advance(16)
                #expect(try await driver.claim().isEmpty)
                driver.clock.advance(seconds / 2 - 0.1)
                #expect(try await driver.claim().isEmpty)
                driver.clock.advance(seconds + 0.2)
                #expect(try await driver.claimOne().losses == losses)
            }
        },
        Behavior("Losses accumulate, and a manual retry resets them") { driver in
            let id = try await driver.enqueue(.sample())[0]
            var job = try await driver.claimOne()
            for losses in 1...Limits.jobLossesMax {
                driver.clock.advance(16)
                // The tenth has no delay, so that the job is reported as dead at once.
                if losses < Limits.jobLossesMax {
                    #expect(try await driver.claim().isEmpty)
                    driver.clock.advance(361)
                }
                job = try await driver.claimOne()
                #expect(job.losses == losses && job.failures == 0)
            }
            _ = try await driver.jobs.finish(job.lease, .dead(.rejected(.jobWorkerLost)), notice: nil)
            #expect(try await driver.job(id).error?.code == .jobWorkerLost)
            _ = try await driver.jobs.retry(id)
            #expect(try await driver.claimOne().losses == 0)
        },
        Behavior("A cancelled job is not claimed again after its worker was lost") { driver in
            let id = try await driver.enqueue(.sample(headers: ["Authorization": "Bearer x"]))[0]
            _ = try await driver.claimOne()
            _ = try await driver.jobs.cancel(id)
            driver.clock.advance(16)
            #expect(try await driver.claim().isEmpty)
            driver.clock.advance(2)
            #expect(try await driver.claim().isEmpty)
            #expect(try await driver.job(id).state == .cancelled)
        },
        Behavior("Jobs that a worker returned before it ended count no loss") { driver in
            _ = try await driver.enqueue(.sample())
            try await driver.jobs.release([try await driver.claimOne().lease])
            let next = try await driver.restarted()
            let job = try await next.claimOne()
            #expect(job.losses == 0 && job.job.attempts == 1)
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

    /// Claims `count` jobs that become due while the clock advances.
    func claimLater(_ count: Int) async throws -> [ClaimedJob] {
        let claimed = Mutex<[ClaimedJob]>([])
        try await pollUntil("\(count) jobs are claimed", seconds: 30) {
            clock.advance(1)
            let jobs = try await jobs.claim(count, by: "worker", lease: .seconds(600), hostLimit: 16)
            return claimed.withLock { claimed in
                claimed += jobs
                return claimed.count >= count
            }
        }
        return claimed.withLock { $0 }
    }
}
