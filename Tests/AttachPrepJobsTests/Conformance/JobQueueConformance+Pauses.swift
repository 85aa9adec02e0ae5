import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import MediaTypes
import Testing

extension JobQueueConformance {
    static let pauses: [Behavior] = [
        Behavior("A pause of all jobs keeps them waiting, over restarts, until they resume") { driver in
            let running = try await driver.enqueue(.sample())
            let claimed = try await driver.claimOne()
            let id = try await driver.enqueue(.sample(priority: .high))[0]
            _ = try await driver.jobs.pause(.all, reason: "The bucket is moved", by: "me")
            #expect(try await driver.claim(5).isEmpty)
            #expect(try await driver.jobs.finish(claimed.lease, .cancelled, notice: nil) && running.count == 1)
            let next = try await driver.restarted()
            #expect(try await next.claim(5).isEmpty)
            let kept = try await next.jobs.pauses()
            #expect(kept.map(\.target) == [.all] && kept.map(\.caller) == ["me"])
            #expect(kept.map(\.reason) == ["The bucket is moved"])
            #expect(try await next.jobs.resume(.all))
            #expect(try await next.claim(5).map(\.job.id) == [id])
            #expect(try await !next.jobs.resume(.all))
        },
        Behavior("A paused lane waits while the others run") { driver in
            let bulk = try await driver.enqueue(.sample(priority: .bulk))
            let high = try await driver.enqueue(.sample(priority: .high))
            _ = try await driver.jobs.pause(.lane(.bulk), reason: nil, by: nil)
            #expect(try await driver.claim(5).map(\.job.id) == high)
            driver.clock.advance(60)
            let later = try await driver.enqueue(.sample(priority: .bulk))
            #expect(try await driver.claim(5).isEmpty)
            #expect(try await driver.jobs.resume(.lane(.bulk)))
            #expect(try await driver.claim(5).map(\.job.id) == bulk + later)
        },
        Behavior("A paused host waits while the others run, whoever submitted its jobs") { driver in
            var foreign = JobSubmission.sample(host: "slow.example")
            foreign.origin.caller = "other"
            let slow = try await driver.enqueue(.sample(host: "slow.example"), foreign)
            let others = try await driver.enqueue(.sample(host: "not-slow.example"), .sample(host: nil))
            _ = try await driver.jobs.pause(.host("slow.example"), reason: nil, by: nil)
            #expect(try await driver.claim(5).map(\.job.id) == others)
            #expect(try await driver.claim(5).isEmpty)
            #expect(try await driver.jobs.resume(.host("slow.example")))
            #expect(try await Set(driver.claim(5).map(\.job.id)) == Set(slow))
        },
        Behavior("Paused jobs are counted apart from those that are due") { driver in
            _ = try await driver.enqueue(
                .sample(host: "slow.example"), .sample(host: "not-slow.example"), .sample(priority: .bulk))
            driver.clock.advance(1)
            func counts() async throws -> [Int] {
                let counts = try await driver.jobs.counts()
                #expect((counts.oldestDue == nil) == (counts.due == 0))
                return [counts.due, counts.paused]
            }
            #expect(try await counts() == [3, 0])
            _ = try await driver.jobs.pause(.host("slow.example"), reason: nil, by: nil)
            #expect(try await counts() == [2, 1])
            _ = try await driver.jobs.pause(.lane(.bulk), reason: nil, by: nil)
            #expect(try await counts() == [1, 2])
            // Claims park the jobs of a paused host.
            #expect(try await driver.claim(5).count == 1)
            #expect(try await counts() == [0, 2])
            _ = try await driver.enqueue(.sample(notBefore: driver.clock.now.addingTimeInterval(60)))
            _ = try await driver.jobs.pause(.all, reason: nil, by: nil)
            #expect(try await counts() == [0, 2])
            for target in [PauseTarget.all, .lane(.bulk), .host("slow.example")] {
                #expect(try await driver.jobs.resume(target))
            }
            #expect(try await counts() == [2, 0])
        },
        Behavior("A pause replaces an earlier one of the same jobs, and their number is limited") { driver in
            for reason in ["first", "second"] {
                _ = try await driver.jobs.pause(.host("cdn.example"), reason: reason, by: nil)
            }
            #expect(try await driver.jobs.pauses().map(\.reason) == ["second"])
            for number in 1..<Limits.pausesMax {
                _ = try await driver.jobs.pause(.host("\(number).example"), reason: nil, by: nil)
            }
            let error = await #expect(throws: AttachPrepError.self) {
                try await driver.jobs.pause(.all, reason: nil, by: nil)
            }
            #expect(error?.code == .requestConflict)
            _ = try await driver.jobs.pause(.host("cdn.example"), reason: "third", by: nil)
        },
    ]
}
