import AttachPrep
import AttachPrepJobs
import Foundation
import RichPush
import Testing

extension JobQueueConformance {
    static let leases: [Behaviour] = [
        Behaviour("a lease that is renewed is kept") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let lease = try await driver.claimOne().lease
            for _ in 0..<5 {
                driver.clock.advance(10)
                #expect(try await driver.jobs.extend([lease], by: .seconds(15)) == [id: .held])
                #expect(try await driver.claim().isEmpty)
            }
        },
        Behaviour("a lease that ran out is lost, and the job is given again at once") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let first = try await driver.claimOne()
            driver.clock.advance(16)
            let second = try await driver.claimOne()
            #expect(second.job.id == id && second.lease.token != first.lease.token)
            #expect(second.losses == 1 && second.failures == 0 && second.job.attempts == 2)
            #expect(second.dueAt == first.dueAt)
            #expect(try await driver.jobs.extend([first.lease], by: .seconds(15)) == [id: .lost])
            let isKept = try await driver.jobs.finish(first.lease, .succeeded(.sample(), .make()), notice: nil)
            #expect(!isKept)
            #expect(try await !driver.jobs.postpone(first.lease, until: driver.clock.now, error: .sample()))
            try await driver.jobs.release([first.lease])
            #expect(try await driver.job(id) == second.job)
        },
        Behaviour("a job that is lost again comes back after half a second, then after twice that") { driver in
            _ = try await driver.enqueue(.sample())
            _ = try await driver.claimOne()
            driver.clock.advance(16)
            #expect(try await driver.claimOne().losses == 1)
            for (losses, seconds) in [(2, 0.5), (3, 1.0), (4, 2.0)] {
                driver.clock.advance(16)
                #expect(try await driver.claim().isEmpty)
                driver.clock.advance(seconds - 0.1)
                #expect(try await driver.claim().isEmpty)
                driver.clock.advance(0.2)
                #expect(try await driver.claimOne().losses == losses)
            }
        },
        Behaviour("a job that ends its workers again and again waits longer each time") { driver in
            _ = try await driver.enqueue(.sample())
            var waits: [Double] = []
            for _ in 0..<6 {
                var waited = 0.0
                while try await driver.claim().isEmpty {
                    driver.clock.advance(0.25)
                    waited += 0.25
                }
                waits.append(waited)
                driver.clock.advance(16)
            }
            #expect(waits[0...1] == [0, 0] && waits[2] > 0 && waits[3] > waits[2] && waits[5] > waits[4])
        },
        Behaviour("released jobs are queued as if nobody had claimed them") { driver in
            let before = try await driver.jobs.enqueue([.sample(), .sample()], idempotency: nil).jobs
            let claimed = try await driver.claim(2)
            driver.clock.advance(5)
            try await driver.jobs.release(claimed.map(\.lease))
            #expect(try await driver.job(before[0].id) == before[0])
            #expect(try await driver.claim(2).map(\.job.id) == before.map(\.id))
        },
        Behaviour("a postponed job comes back at its time, and knows why") { driver in
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

    static let endings: [Behaviour] = [
        Behaviour("a job ends with its result") { driver in
            let media = MediaID.make()
            let id = try await driver.ended(.succeeded(.sample(.converted), media))
            let job = try await driver.job(id)
            #expect(job.state == .succeeded && job.result == .sample(.converted) && job.media == media)
            #expect(job.error == nil && job.finishedAt == driver.clock.now)
            #expect(try await driver.claim().isEmpty)
        },
        Behaviour("a failed and a dead job keep why") { driver in
            let failed = try await driver.job(driver.ended(.failed(.rejected(.mediaCorrupt))))
            #expect(failed.state == .failed && failed.error?.code == .mediaCorrupt && failed.result != nil)
            let dead = try await driver.job(driver.ended(.dead(.rejected(.downloadTimeout))))
            #expect(dead.state == .dead && dead.error?.code == .downloadTimeout)
        },
        Behaviour("a lease ends with its job") { driver in
            _ = try await driver.enqueue(.sample())
            let lease = try await driver.claimOne().lease
            #expect(try await driver.jobs.finish(lease, .succeeded(.sample(), .make()), notice: nil))
            #expect(try await !driver.jobs.finish(lease, .failed(.rejected(.internal)), notice: nil))
            #expect(try await driver.jobs.extend([lease], by: .seconds(15)) == [lease.job: .lost])
            #expect(try await driver.job(lease.job).state == .succeeded)
        },
    ]

    static let people: [Behaviour] = [
        Behaviour("a queued job is called off at once") { driver in
            let id = try await driver.enqueue(.sample())[0]
            #expect(try await driver.jobs.cancel(id).state == .cancelled)
            #expect(try await driver.claim().isEmpty)
            #expect(try await driver.job(id).finishedAt == driver.clock.now)
        },
        Behaviour("a running job's worker hears that it was called off") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let lease = try await driver.claimOne().lease
            #expect(try await driver.jobs.cancel(id).state == .running)
            #expect(try await driver.jobs.extend([lease], by: .seconds(15)) == [id: .cancelled])
            #expect(try await driver.jobs.finish(lease, .cancelled, notice: nil))
            #expect(try await driver.job(id).state == .cancelled)
        },
        Behaviour("a job that was called off does not come back when its worker is gone") { driver in
            let id = try await driver.enqueue(.sample())[0]
            _ = try await driver.claimOne()
            _ = try await driver.jobs.cancel(id)
            driver.clock.advance(16)
            #expect(try await driver.claim().isEmpty)
            #expect(try await driver.job(id).state == .cancelled)
        },
        Behaviour("neither does it when its attempt fails") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let lease = try await driver.claimOne().lease
            _ = try await driver.jobs.cancel(id)
            #expect(try await driver.jobs.postpone(lease, until: driver.clock.now, error: .sample()))
            #expect(try await driver.job(id).state == .cancelled)
        },
        Behaviour("what has ended is not called off, and what is not there neither") { driver in
            let id = try await driver.ended(.succeeded(.sample(), .make()))
            let conflict = await #expect(throws: AttachPrepError.self) { try await driver.jobs.cancel(id) }
            #expect(conflict?.code == .requestConflict)
            let missing = await #expect(throws: AttachPrepError.self) { try await driver.jobs.cancel(.make()) }
            #expect(missing?.code == .requestNotFound)
        },
        Behaviour("a failed job is tried again from the beginning, with its secrets") { driver in
            let secret = JobSubmission.sample(headers: ["Authorization": "Bearer x"])
            let id = try await driver.ended(.dead(.rejected(.downloadTimeout)), secret)
            driver.clock.advance(10)
            let job = try await driver.jobs.retry(id)
            #expect(job.state == .queued && job.attempts == 0 && job.error == nil && job.result == nil)
            let claimed = try await driver.claimOne()
            #expect(claimed.request == secret.request && claimed.failures == 0)
            #expect(claimed.dueAt == driver.clock.now)
        },
        Behaviour("a succeeded job is not tried again, and one whose secrets are gone neither") { driver in
            let id = try await driver.ended(.succeeded(.sample(), .make()))
            let conflict = await #expect(throws: AttachPrepError.self) { try await driver.jobs.retry(id) }
            #expect(conflict?.code == .requestConflict)
            let secret = try await driver.enqueue(.sample(headers: ["Authorization": "Bearer x"]))[0]
            _ = try await driver.jobs.cancel(secret)
            let wiped = await #expect(throws: AttachPrepError.self) { try await driver.jobs.retry(secret) }
            #expect(wiped?.code == .requestConflict)
            let plain = try await driver.enqueue(.sample())[0]
            _ = try await driver.jobs.cancel(plain)
            #expect(try await driver.jobs.retry(plain).state == .queued)
        },
        Behaviour("a full queue takes no job that is tried again") { driver in
            let id = try await driver.ended(.failed(.rejected(.mediaCorrupt)))
            _ = try await driver.jobs.enqueue(
                (0..<DriverUnderTest.queuedJobsMax).map { _ in .sample() }, idempotency: nil)
            let error = await #expect(throws: AttachPrepError.self) { try await driver.jobs.retry(id) }
            #expect(error?.code == .queueFull)
            #expect(try await driver.job(id).state == .failed)
        },
    ]

    static let blameless: [Behaviour] = [
        Behaviour("a job that is put off for no fault of its own keeps its attempts") { driver in
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

    static let clocks: [Behaviour] = [
        Behaviour("a wall clock that jumps neither loses leases nor prolongs them") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let lease = try await driver.claimOne().lease
            driver.clock.jump(86_400)
            #expect(try await driver.claim().isEmpty)
            #expect(try await driver.jobs.extend([lease], by: .seconds(15)) == [id: .held])
            driver.clock.jump(-172_800)
            driver.clock.advance(16)
            #expect(try await driver.claimOne().losses == 1)
        },
        Behaviour("a job that came before the clock jumped back is due all the same") { driver in
            let id = try await driver.enqueue(.sample())[0]
            driver.clock.jump(-86_400)
            #expect(try await driver.claimOne().job.id == id)
        },
        Behaviour("no back-off is longer than the longest one, however far the clock jumps back") { driver in
            _ = try await driver.enqueue(.sample())
            let lease = try await driver.claimOne().lease
            _ = try await driver.jobs.postpone(lease, until: driver.clock.now + 30, error: .sample())
            driver.clock.jump(-86_400)
            #expect(try await driver.claim().isEmpty)
            driver.clock.advance(Limits.jobBackOffSecondsMax + 1)
            #expect(try await driver.claim().count == 1)
        },
        Behaviour("a job that was put off is due when its time has passed, however the clock is set") { driver in
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
        Behaviour("a job for the year 9999 waits, and hinders nobody") { driver in
            let far = Date(timeIntervalSince1970: 253_402_300_799)
            let ids = try await driver.enqueue(.sample(notBefore: far), .sample())
            #expect(try await driver.claim(10).map(\.job.id) == [ids[1]])
            #expect(try await driver.claim(10).isEmpty)
            #expect(try await driver.jobs.nextDue() == far)
        },
        Behaviour("a time that a caller named is the wall's, whatever the clock does") { driver in
            _ = try await driver.enqueue(.sample(notBefore: driver.clock.now + 3600))
            driver.clock.jump(-3600)
            driver.clock.advance(3700)
            #expect(try await driver.claim().isEmpty)
            driver.clock.jump(3600)
            #expect(try await driver.claim().count == 1)
        },
    ]
}
