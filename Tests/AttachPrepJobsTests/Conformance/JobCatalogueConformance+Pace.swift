import AttachPrepJobs
import Foundation
import RichPush
import Testing

/// How an hour is counted.
extension JobCatalogConformance {
    static let pace: [Behaviour] = [
        Behaviour("an hour in which nothing ended has sixty empty minutes") { driver in
            _ = try await driver.enqueue(.sample())
            let pace = try await driver.jobs.pace(until: driver.clock.now)
            #expect(pace == JobPace(until: driver.clock.now) && pace.latencies.percentile(0.5) == nil)
        },
        Behaviour("what ended is counted in its minute, cancelled jobs are not") { driver in
            let start = driver.clock.now
            _ = try await driver.ended(.succeeded(.sample(), .make()))
            driver.clock.advance(30)
            _ = try await driver.ended(.failed(.rejected(.mediaCorrupt)))
            driver.clock.advance(45)
            _ = try await driver.ended(.dead(.rejected(.downloadTimeout)))
            _ = try await driver.ended(.succeeded(.sample(), .make()))
            _ = try await driver.jobs.cancel(try await driver.enqueue(.sample())[0])
            let pace = try await driver.jobs.pace(until: start + 3600)
            #expect(pace.minutes[0].succeeded == 1 && pace.minutes[0].failed == 1)
            #expect(pace.minutes[1].succeeded == 1 && pace.minutes[1].failed == 1)
            #expect(pace.minutes[2...].allSatisfy { $0 == JobPace.Minute() })
            // The hour's end is the next one's beginning.
            #expect(try await driver.jobs.pace(until: start) == JobPace(until: start))
            let later = try await driver.jobs.pace(until: start + 3600.001)
            #expect(later.minutes[0].succeeded == 0 && later.minutes[0].failed == 1)
        },
        Behaviour("a job takes its time from when it was put in, or might begin") { driver in
            let start = driver.clock.now
            let waited = try await driver.enqueue(.sample(notBefore: start + 500))
            _ = try await driver.enqueue(.sample())
            let first = try await driver.claimOne()
            driver.clock.advance(10)
            _ = try await driver.jobs.finish(first.lease, .succeeded(.sample(), .make()), notice: nil)
            driver.clock.advance(490)
            let second = try await driver.claimOne()
            #expect(second.job.id == waited[0])
            driver.clock.advance(10)
            _ = try await driver.jobs.finish(second.lease, .succeeded(.sample(), .make()), notice: nil)
            let spans = try await driver.jobs.pace(until: start + 3600).latencies.counts
            let expected = LatencyHistogram.boundsMilliseconds.count { $0 <= 10_000 }
            #expect(spans[expected] == 2 && spans.reduce(0, +) == 2)
        },
        Behaviour("a job that is queued again has not ended") { driver in
            let id = try await driver.ended(.dead(.rejected(.downloadTimeout)))
            _ = try await driver.jobs.retry(id)
            let end = driver.clock.now + 60
            #expect(try await driver.jobs.pace(until: end) == JobPace(until: end))
        },
    ]
}
