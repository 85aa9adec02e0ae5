import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import MediaTypes
import TestSupport
import Testing

/// Jobs that wait: for a time of the caller's, or for a dependency.
extension JobQueueConformance {
    static let waits: [Behavior] = [
        Behavior("A snoozed job is due at its new time") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let date = driver.clock.now + 600
            let job = try await driver.jobs.schedule(id, notBefore: date)
            #expect(job.state == .queued && job.request.jobOptions.notBefore == date)
            #expect(try await driver.claim().isEmpty)
            #expect(try await driver.jobs.nextDue() == date)
            driver.clock.advance(601)
            #expect(try await driver.claimOne().job.id == id)
        },
        Behavior("A job that waits for its next attempt can run now, and counts its attempts on") { driver in
            let id = try await driver.enqueue(.sample())[0]
            let lease = try await driver.claimOne().lease
            _ = try await driver.jobs.postpone(lease, until: driver.clock.now + 3_600, error: .sample())
            #expect(try await driver.claim().isEmpty)
            _ = try await driver.jobs.schedule(id, notBefore: nil)
            let again = try await driver.claimOne()
            #expect(again.job.id == id && again.failures == 1 && again.job.attempts == 2)
        },
        Behavior("A job can run before its notBefore on demand") { driver in
            var submission = JobSubmission.sample()
            submission.request.jobOptions.notBefore = driver.clock.now + 3_600
            let id = try await driver.enqueue(submission)[0]
            #expect(try await driver.claim().isEmpty)
            let job = try await driver.jobs.schedule(id, notBefore: nil)
            #expect(job.request.jobOptions.notBefore == nil)
            #expect(try await driver.claimOne().request.jobOptions.notBefore == nil)
        },
        Behavior("A job is not snoozed past its notAfter, and only a queued job can be scheduled") { driver in
            var submission = JobSubmission.sample()
            submission.request.jobOptions.notAfter = driver.clock.now + 60
            let id = try await driver.enqueue(submission)[0]
            let late = await #expect(throws: AttachPrepError.self) {
                try await driver.jobs.schedule(id, notBefore: driver.clock.now + 61)
            }
            #expect(late?.code == .requestInvalid)
            _ = try await driver.claimOne()
            let running = await #expect(throws: AttachPrepError.self) {
                try await driver.jobs.schedule(id, notBefore: nil)
            }
            #expect(running?.code == .requestConflict)
            let unknown = await #expect(throws: AttachPrepError.self) {
                try await driver.jobs.schedule(.make(), notBefore: nil)
            }
            #expect(unknown?.code == .requestNotFound)
        },
        Behavior("Jobs past their notAfter are claimed as overdue, whatever they wait for") { driver in
            var submission = JobSubmission.sample()
            submission.request.jobOptions.notBefore = driver.clock.now + 50
            submission.request.jobOptions.notAfter = driver.clock.now + 60
            let id = try await driver.enqueue(submission, .sample())[0]
            #expect(try await driver.overdue().isEmpty)
            _ = try await driver.claimOne()
            driver.clock.advance(62)
            let overdue = try await driver.overdue()
            #expect(overdue.map(\.job.id) == [id] && overdue.first?.job.state == .running)
            #expect(try await driver.overdue().isEmpty)
            let lease = try #require(overdue.first).lease
            #expect(try await driver.jobs.finish(lease, .failed(.rejected(.deadlineNotAfter)), notice: nil))
        },
        Behavior("A job that waits for a dependency for too long is claimed as overdue") { driver in
            let id = try await driver.enqueue(.sample())[0]
            var since: Date?
            for _ in 0..<3 {
                let claimed = try await driver.claimOne()
                #expect(claimed.job.attempts == 1 && claimed.waitsSince == since)
                since = since ?? driver.clock.now
                _ = try await driver.jobs.postpone(
                    claimed.lease, until: driver.clock.now + 10, error: .sample(.publishUnavailable), isAttempt: false)
                #expect(try await driver.job(id).attempts == 0)
                driver.clock.advance(10)
            }
            #expect(try await driver.overdue(wait: 31).isEmpty)
            #expect(try await driver.overdue(wait: 29).map(\.job.id) == [id])
        },
        Behavior("An attempt that counts ends the wait for a dependency") { driver in
            _ = try await driver.enqueue(.sample())
            let first = try await driver.claimOne()
            _ = try await driver.jobs.postpone(
                first.lease, until: driver.clock.now, error: .sample(.publishUnavailable), isAttempt: false)
            let second = try await driver.claimOne()
            #expect(second.waitsSince != nil)
            _ = try await driver.jobs.postpone(second.lease, until: driver.clock.now, error: .sample())
            #expect(try await driver.claimOne().waitsSince == nil)
        },
    ]
}

extension DriverUnderTest {
    fileprivate func overdue(wait seconds: Double = 3_600) async throws -> [ClaimedJob] {
        try await jobs.claimOverdue(10, by: "worker", lease: .seconds(15), waitSecondsMax: seconds)
    }
}
