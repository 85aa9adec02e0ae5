import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import MediaTypes
import TestSupport
import Testing

extension JobQueueConformance {
    static let leases: [Behavior] = [
        Behavior("A renewed lease is held") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let lease = try await driver.claimOne().lease
            for _ in 0..<5 {
                driver.clock.advance(10)
                #expect(try await driver.jobs.extend([lease], by: .seconds(15)) == [id: .held])
                #expect(try await driver.claim().isEmpty)
            }
        },
        Behavior("An expired lease is lost, and its job can be claimed after a delay") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let first = try await driver.claimOne()
            driver.clock.advance(16)
            #expect(try await driver.claim().isEmpty)
            driver.clock.advance(2)
            let second = try await driver.claimOne()
            #expect(second.job.id == id && second.lease.token != first.lease.token)
            #expect(second.losses == 1 && second.failures == 0 && second.job.attempts == 2)
            #expect(second.dueAt > first.dueAt)
            #expect(try await driver.jobs.extend([first.lease], by: .seconds(15)) == [id: .lost])
            let isFinished = try await driver.jobs.finish(first.lease, .succeeded(.sample(), .make()), notice: nil)
            #expect(!isFinished)
            #expect(try await !driver.jobs.postpone(first.lease, until: driver.clock.now, error: .sample()))
            try await driver.jobs.release([first.lease])
            #expect(try await driver.job(id) == second.job)
        },
        Behavior("Released jobs are queued as if never claimed") { driver in
            let before = try await driver.jobs.enqueue([.sample(), .sample()], idempotency: nil).jobs
            let claimed = try await driver.claim(2)
            driver.clock.advance(5)
            try await driver.jobs.release(claimed.map(\.lease))
            #expect(try await driver.job(before[0].id) == before[0])
            #expect(try await driver.claim(2).map(\.job.id) == before.map(\.id))
        },
        Behavior("A postponed job is due at its time and keeps its error") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let lease = try await driver.claimOne().lease
            let date = driver.clock.now + 30
            #expect(try await driver.jobs.postpone(lease, until: date, error: .sample(.downloadTimeout)))
            let job = try await driver.job(id)
            #expect(job.state == .queued && job.attempts == 1 && job.error == .sample(.downloadTimeout))
            #expect(try await driver.claim().isEmpty)
            #expect(try await driver.jobs.nextDue() == date)
            driver.clock.advance(30)
            let again = try await driver.claimOne()
            #expect(again.failures == 1 && again.dueAt == date)
        },
    ]

    static let completions: [Behavior] = [
        Behavior("A succeeded job has its result") { driver in
            let media = MediaID.make()
            let id = try await driver.ended(.succeeded(.sample(.converted), media))
            let job = try await driver.job(id)
            #expect(job.state == .succeeded && job.result == .sample(.converted) && job.media == media)
            #expect(job.error == nil && job.finishedAt == driver.clock.now)
            #expect(try await driver.claim().isEmpty)
        },
        Behavior("Failed and dead jobs keep their error") { driver in
            let failed = try await driver.job(driver.ended(.failed(.rejected(.mediaCorrupt))))
            #expect(failed.state == .failed && failed.error?.code == .mediaCorrupt && failed.result != nil)
            let dead = try await driver.job(driver.ended(.dead(.rejected(.downloadTimeout))))
            #expect(dead.state == .dead && dead.error?.code == .downloadTimeout)
        },
        Behavior("A lease ends with its job") { driver in
            _ = try await driver.enqueue(.sample())
            let lease = try await driver.claimOne().lease
            #expect(try await driver.jobs.finish(lease, .succeeded(.sample(), .make()), notice: nil))
            #expect(try await !driver.jobs.finish(lease, .failed(.rejected(.internal)), notice: nil))
            #expect(try await driver.jobs.extend([lease], by: .seconds(15)) == [lease.job: .lost])
            #expect(try await driver.job(lease.job).state == .succeeded)
        },
    ]

    static let management: [Behavior] = [
        Behavior("A queued job is cancelled immediately") { driver in
            let id = try await driver.enqueue(.sample())[0]
            #expect(try await driver.jobs.cancel(id).state == .cancelled)
            #expect(try await driver.claim().isEmpty)
            #expect(try await driver.job(id).finishedAt == driver.clock.now)
        },
        Behavior("The worker of a running job is notified that it was cancelled") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let lease = try await driver.claimOne().lease
            #expect(try await driver.jobs.cancel(id).state == .running)
            #expect(try await driver.jobs.extend([lease], by: .seconds(15)) == [id: .cancelled])
            #expect(try await driver.jobs.finish(lease, .cancelled, notice: nil))
            #expect(try await driver.job(id).state == .cancelled)
        },
        Behavior("A cancelled job is not claimed again when its lease expires") { driver in
            let id = try await driver.enqueue(.sample())[0]
            _ = try await driver.claimOne()
            _ = try await driver.jobs.cancel(id)
            driver.clock.advance(16)
            #expect(try await driver.claim().isEmpty)
            #expect(try await driver.job(id).state == .cancelled)
        },
        Behavior("A cancelled job is not queued again when its attempt fails") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let lease = try await driver.claimOne().lease
            _ = try await driver.jobs.cancel(id)
            #expect(try await driver.jobs.postpone(lease, until: driver.clock.now, error: .sample()))
            #expect(try await driver.job(id).state == .cancelled)
        },
        Behavior("Finished and unknown jobs cannot be cancelled") { driver in
            let id = try await driver.ended(.succeeded(.sample(), .make()))
            let conflict = await #expect(throws: AttachPrepError.self) { try await driver.jobs.cancel(id) }
            #expect(conflict?.code == .requestConflict)
            let missing = await #expect(throws: AttachPrepError.self) { try await driver.jobs.cancel(.make()) }
            #expect(missing?.code == .requestNotFound)
        },
        Behavior("A retried job starts over with its secrets") { driver in
            let secret = JobSubmission.sample(headers: ["Authorization": "Bearer x"])
            let id = try await driver.ended(.dead(.rejected(.downloadTimeout)), secret)
            driver.clock.advance(10)
            let job = try await driver.jobs.retry(id)
            #expect(job.state == .queued && job.attempts == 0 && job.error == nil && job.result == nil)
            let claimed = try await driver.claimOne()
            #expect(claimed.request == secret.request && claimed.failures == 0)
            #expect(claimed.dueAt == driver.clock.now)
        },
        Behavior("Succeeded jobs and jobs whose secrets were removed cannot be retried") { driver in
            let id = try await driver.ended(.succeeded(.sample(), .make()))
            let conflict = await #expect(throws: AttachPrepError.self) { try await driver.jobs.retry(id) }
            #expect(conflict?.code == .requestConflict)
            let secret = try await driver.enqueue(.sample(headers: ["Authorization": "Bearer x"]))[0]
            _ = try await driver.jobs.cancel(secret)
            let redacted = await #expect(throws: AttachPrepError.self) { try await driver.jobs.retry(secret) }
            #expect(redacted?.code == .requestConflict)
            let plain = try await driver.enqueue(.sample())[0]
            _ = try await driver.jobs.cancel(plain)
            #expect(try await driver.jobs.retry(plain).state == .queued)
        },
        Behavior("A full queue rejects a retry") { driver in
            let id = try await driver.ended(.failed(.rejected(.mediaCorrupt)))
            _ = try await driver.jobs.enqueue(
                (0..<DriverUnderTest.queuedJobsMax).map { _ in .sample() }, idempotency: nil)
            let error = await #expect(throws: AttachPrepError.self) { try await driver.jobs.retry(id) }
            #expect(error?.code == .queueFull)
            #expect(try await driver.job(id).state == .failed)
        },
    ]

    static let postponements: [Behavior] = [
        Behavior("A postponement that is not an attempt does not count as one") { driver in
            let id = try await driver.enqueue(.sample())[0]
            for _ in 0..<3 {
                let lease = try await driver.claimOne().lease
                #expect(
                    try await driver.jobs.postpone(
                        lease, until: driver.clock.now + 2, error: .sample(.outputNoSpace), isAttempt: false))
                #expect(try await driver.claim().isEmpty)
                driver.clock.advance(2)
            }
            let waiting = try await driver.job(id)
            #expect(waiting.attempts == 0 && waiting.startedAt == nil && waiting.error?.code == .outputNoSpace)
            #expect(try await driver.claimOne().failures == 0)
        }
    ]

    static let clocks: [Behavior] = [
        Behavior("A jump of the wall clock neither expires nor extends leases") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let lease = try await driver.claimOne().lease
            driver.clock.jump(86_400)
            #expect(try await driver.claim().isEmpty)
            #expect(try await driver.jobs.extend([lease], by: .seconds(15)) == [id: .held])
            driver.clock.jump(-172_800)
            driver.clock.advance(16)
            #expect(try await driver.claim().isEmpty)
            driver.clock.advance(2)
            #expect(try await driver.claimOne().losses == 1)
        },
        Behavior("A job is still due after the wall clock was set back") { driver in
            let id = try await driver.enqueue(.sample())[0]
            driver.clock.jump(-86_400)
            #expect(try await driver.claimOne().job.id == id)
        },
        Behavior("A back-off never exceeds its maximum, even if the clock is set back") { driver in
            _ = try await driver.enqueue(.sample())
            let lease = try await driver.claimOne().lease
            _ = try await driver.jobs.postpone(lease, until: driver.clock.now + 30, error: .sample())
            driver.clock.jump(-86_400)
            #expect(try await driver.claim().isEmpty)
            driver.clock.advance(Limits.jobBackOffSecondsMax + 1)
            #expect(try await driver.claim().count == 1)
        },
        Behavior("A postponed job is due by the steady clock, however the wall clock is set") { driver in
            _ = try await driver.enqueue(.sample())
            let lease = try await driver.claimOne().lease
            _ = try await driver.jobs.postpone(lease, until: driver.clock.now + 30, error: .sample())
            driver.clock.jump(3_600)
            #expect(try await driver.claim().isEmpty)
            driver.clock.jump(-7_200)
            driver.clock.advance(29)
            #expect(try await driver.claim().isEmpty)
            driver.clock.advance(1)
            #expect(try await driver.claim().count == 1)
        },
        Behavior("A job scheduled for the year 9999 waits without blocking others") { driver in
            let far = Date(timeIntervalSince1970: 253_402_300_799)
            let ids = try await driver.enqueue(.sample(notBefore: far), .sample())
            #expect(try await driver.claim(10).map(\.job.id) == [ids[1]])
            #expect(try await driver.claim(10).isEmpty)
            #expect(try await driver.jobs.nextDue() == far)
        },
        Behavior("A notBefore follows the wall clock", isOfLocalClock: true) { driver in
            _ = try await driver.enqueue(.sample(notBefore: driver.clock.now + 3600))
            driver.clock.jump(-3600)
            driver.clock.advance(3700)
            #expect(try await driver.claim().isEmpty)
            driver.clock.jump(3600)
            #expect(try await driver.claim().count == 1)
        },
    ]
}
