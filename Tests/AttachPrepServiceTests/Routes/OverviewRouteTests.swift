import AttachPrep
import AttachPrepJobs
import Foundation
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import AttachPrepService

struct OverviewRouteTests {
    @Test func `The overview of a new service has all members`() async throws {
        let service = try await LiveService()
        let response = try await service.caller.get("/v1/overview")
        let overview = response.object
        #expect(response.status == 200 && overview["version"] as? String == ProductVersion.text)
        #expect(
            Set(overview.keys) == [
                "version", "startedAt", "takesUploads", "jobs", "errors", "due", "paused", "oldestDueSeconds",
                "webhooks", "mediaBytes", "hour", "children", "queue", "publish", "ready", "reasons",
                "workers", "pauses",
            ])
        #expect(overview["jobs"] as? [String: Int] == Dictionary(uniqueKeysWithValues: Self.states.map { ($0, 0) }))
        #expect(overview["oldestDueSeconds"] is NSNull && overview["due"] as? Int == 0)
        #expect(overview["webhooks"] as? [String: Int] == ["pending": 0, "delivered": 0, "givenUp": 0])
        #expect(overview["takesUploads"] as? Bool == true && overview["ready"] as? Bool == true)
        #expect((overview["errors"] as? [Any])?.isEmpty == true && overview["children"] is NSNull)
    }

    @Test func `Each worker has its load, version and times`() async throws {
        var status = ServiceStatus()
        let worker = WorkerReport(
            name: "host-1 77", host: "host-1", version: "1.0.0", startedAt: Date(timeIntervalSince1970: 1_795_294_262),
            reportedAt: Date(timeIntervalSince1970: 1_795_294_300), running: 3, concurrency: 32, mediaSlots: 4,
            isDraining: true, outages: [DependencyOutage(.bucket, reason: "It is away.")])
        status.workers = { [worker] }
        let service = try await LiveService(serviceStatus: status)
        let overview = try await service.caller.get("/v1/overview").object
        let listed = try #require((overview["workers"] as? [[String: Any]])?.first)
        #expect(listed["name"] as? String == "host-1 77" && listed["host"] as? String == "host-1")
        #expect(listed["running"] as? Int == 3 && listed["concurrency"] as? Int == 32)
        #expect(listed["mediaSlots"] as? Int == 4 && listed["draining"] as? Bool == true)
        #expect(listed["startedAt"] as? String == "2026-11-21T20:51:02.000Z")
        #expect(listed["reportedAt"] as? String == "2026-11-21T20:51:40.000Z" && listed.count == 10)
        let outage = ["dependency": "bucket", "reason": "It is away."]
        #expect(listed["outages"] as? [[String: String]] == [outage])
    }

    private static let states = ["queued", "running", "succeeded", "failed", "dead", "cancelled"]

    @Test func `Jobs are counted by state and by error, most frequent error first`() async throws {
        let service = try await LiveService()
        let codes: [ErrorCode] = [.mediaCorrupt, .downloadTimeout, .downloadTimeout]
        for code in codes {
            service.store.change(try await service.job()) { job in
                job.state = .dead
                job.error = ManifestError(AttachPrepError(code, "It did not work."))
            }
        }
        _ = try await service.job()
        let overview = try await service.caller.get("/v1/overview").object
        #expect((overview["jobs"] as? [String: Int])?["dead"] == 3 && overview["due"] as? Int == 1)
        #expect((overview["oldestDueSeconds"] as? Double).map { $0 >= 0 } == true)
        let errors = try #require(overview["errors"] as? [[String: Any]])
        #expect(errors.map { $0["code"] as? String } == ["download.timeout", "media.corrupt"])
        #expect(errors.map { $0["jobs"] as? Int } == [2, 1])
    }

    @Test func `The last hour has 60 minutes, empty where no job ended`() async throws {
        let service = try await LiveService()
        var pace = JobPace(until: Date(timeIntervalSince1970: 1_795_294_262))
        pace.minutes[59].succeeded = 2
        pace.minutes[59].failed = 1
        pace.minutes[59].latencies.add(3, inBucket: 0)
        service.store.state.withLock { [pace] in $0.pace = pace }
        let overview = try await service.caller.get("/v1/overview").object
        let hour = try #require(overview["hour"] as? [String: Any])
        let minutes = try #require(hour["minutes"] as? [[String: Any]])
        #expect(hour["until"] as? String == "2026-11-21T20:51:02.000Z" && minutes.count == 60)
        #expect(minutes[58]["succeeded"] as? Int == 0 && minutes[58]["medianSeconds"] is NSNull)
        #expect(minutes[59]["succeeded"] as? Int == 2 && minutes[59]["failed"] as? Int == 1)
        #expect(minutes[59]["p95Seconds"] as? Double == hour["p95Seconds"] as? Double)
        // Half of 5 ms, to the millisecond.
        #expect(hour["medianSeconds"] as? Double == 0.003)
    }

    @Test func `The overview reports the health of queue, publishing and media processes`() async throws {
        var serviceStatus = ServiceStatus()
        (serviceStatus.queueKind, serviceStatus.queueName) = (.postgres, "queue@db1/push")
        serviceStatus.queue = { .unhealthy("The connection is lost.") }
        serviceStatus.publishName = "s3://media/push"
        serviceStatus.publish = { .unknown }
        serviceStatus.mediaProcesses = { .init(slots: 2, failed: 1, recycled: 3) }
        let service = try await LiveService(reasons: ["It is full."], serviceStatus: serviceStatus)
        let overview = try await service.caller.get("/v1/overview").object
        let queue = try #require(overview["queue"] as? [String: Any])
        #expect(queue["kind"] as? String == "postgres" && queue["name"] as? String == "queue@db1/push")
        #expect(queue["healthy"] as? Bool == false && queue["reason"] as? String == "The connection is lost.")
        let publish = try #require(overview["publish"] as? [String: Any])
        #expect(publish["target"] as? String == "s3://media/push")
        #expect(publish["healthy"] is NSNull && publish["reason"] is NSNull)
        #expect(overview["children"] as? [String: Int] == ["slots": 2, "failed": 1, "recycled": 3])
        #expect(overview["ready"] as? Bool == false && overview["reasons"] as? [String] == ["It is full."])
    }

    @Test func `A store error is returned as a problem`() async throws {
        let service = try await LiveService()
        service.store.state.withLock { $0.error = .init(.queueUnavailable, "The queue is not available.") }
        #expect(try await service.caller.get("/v1/overview").code == "queue.unavailable")
        service.store.state.withLock { $0.error = nil }
        #expect(try await service.caller.get("/v1/overview").status == 200)
    }

    @Test func `The overview needs a token`() async throws {
        #expect(try await LiveService().anonymous.get("/v1/overview").status == 401)
    }
}

struct CachedValueTests {
    private final class Counter: Sendable {
        let count = Mutex(0)

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    @Test func `A value is cached until it expires`() async throws {
        let counter = Counter()
        let cached = CachedValue(for: .seconds(2)) { counter.next() }
        let start = ContinuousClock.now
        #expect(try await cached.value(at: start) == 1)
        #expect(try await cached.value(at: start + .seconds(1.9)) == 1)
        #expect(try await cached.value(at: start + .seconds(2)) == 2)
    }

    @Test func `Concurrent callers share one query`() async throws {
        let counter = Counter()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let cached = CachedValue(for: .seconds(600)) {
            for await _ in gate { break }
            return counter.next()
        }
        let responses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await cached.value() } }
            open.finish()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(responses == Array(repeating: 1, count: 100))
    }

    @Test func `A failed query is not cached`() async throws {
        struct QueryError: Error {}
        let counter = Counter()
        let cached = CachedValue<Int>(for: .seconds(600)) {
            let number = counter.next()
            guard number > 1 else { throw QueryError() }
            return number
        }
        await #expect(throws: QueryError.self) { try await cached.value() }
        #expect(try await cached.value() == 2)
    }
}
