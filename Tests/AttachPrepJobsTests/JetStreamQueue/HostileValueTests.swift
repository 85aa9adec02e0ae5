import AttachPrep
import Foundation
import NATS
import RichPush
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import JetStreamQueue

/// Values that a hostile server, or another writer to its bucket, may have stored.
struct HostileValueTests {
    private static let numbers = [Int64.min, -1, 0, 1, .max]

    /// A job in which every number is the given one.
    private func job(_ number: Int64, state: String) throws -> StoredJob {
        let id = "01a1ffe0-72f0-7d1e-88ac-0abf1ff0fdc0"
        let notice = """
            {"id": "msg_00000000000677278e4e3015b794670c", "url": "https://a@b.example/?token=a", "body": "{}",
             "event": "job.dead", "state": "pending", "attempts": \(number), "createdAt": \(number),
             "nextAt": \(number), "lastStatus": \(number), "sender": \(number)}
            """
        return try StoredJob(
            Array(
                """
                {"id": "\(id)", "state": "\(state)", "lane": \(number), "key": "key", "source": "a", "request": "{}",
                 "attempts": \(number), "losses": \(number), "createdAt": \(number),
                 "startedAt": \(number), "finishedAt": \(number), "dueAt": \(number), "notBefore": \(number),
                 "wait": \(number), "token": 1, "worker": "worker", "isCancelling": false, "notices": [\(notice)]}
                """.utf8))
    }

    @Test(arguments: numbers, numbers)
    func `Extreme numbers in a stored job do not crash its changes`(number: Int64, now: Int64) throws {
        let running = try job(number, state: "running")
        let changed = [
            running.lost(at: now), running.released(under: 1, at: now),
            running.postponed(until: number, error: "{}", code: "internal", under: 1, at: now),
            running.ended(try EncodedCompletion(.cancelled), notice: nil, under: 1, at: now),
            running.cancelled(at: now),
            try job(number, state: "queued").claimed(by: "worker", token: 1, at: now),
            try job(number, state: "dead").retried(at: now),
            running.withNotices { $0.attempted(.delivered(status: 200), at: now) },
            running.withNotices { $0.replayed(at: now, callback: nil) },
        ]
        for job in changed {
            let job = try #require(job)
            #expect(try StoredJob(job.bytes()) == job)
        }
        _ = ClaimedJob.failures(attempts: Int(number), losses: Int(now))
    }

    @Test(arguments: numbers, numbers)
    func `Extreme times do not crash a lane decision`(number: Int64, now: Int64) throws {
        let delivery = LaneDelivery(job: .make(), lane: .normal, reply: "", sequence: .max, count: .max)
        let moment = StoreMoment(wall: now, steady: abs(now / 2), bootID: "")
        for state in ["queued", "running"] {
            for wait in 0...2 {
                var value = try job(number, state: state)
                value.wait = wait
                let known = VersionedJob(value: value, revision: .max, receivedAt: number)
                switch LaneDecision(known, delivery, isHeld: false, leaseMilliseconds: 15_000, at: moment) {
                case .wait(_, let milliseconds), .retryLater(let milliseconds): _ = milliseconds
                default: break
                }
            }
        }
    }

    @Test func `Buckets and counts out of range do not crash the histograms`() {
        for index in [Int.min, -1, 0, 3_711, .max] { #expect(MillisecondBucket(index: index).middle >= 0) }
        let rows = [(bucket: MillisecondBucket(index: .max), count: Int.max), (MillisecondBucket(index: 0), .max)]
        #expect(SecondsDistribution(rows, longest: .max)?.count == .max)
        #expect(SecondsDistribution([(MillisecondBucket(index: 0), .min)], longest: .min) == nil)
        var counts = LatencyHistogram()
        for bucket in [Int.min, -1, 0, 0, 33, 34, .max] { counts.add(.max, inBucket: bucket) }
        #expect(counts.percentile(0.5) != nil)
    }

    @Test func `The mirror accepts extreme revisions`() async throws {
        let folder = try TemporaryFolder()
        let moment = StoreClock.system.now()
        let mirror = try JobMirror(path: folder.path("mirror.sqlite"), feed: JobFeed(), at: moment)
        for (revision, number) in [(UInt64(1), Int64.min), (UInt64.max - 1, .max), (.max, .min)] {
            let entry = KeyValueEntry(
                key: "job.01a1ffe0-72f0-7d1e-88ac-0abf1ff0fdc0", value: try job(number, state: "running").bytes(),
                revision: revision)
            try await mirror.apply([entry], at: moment, notifiesListeners: false)
        }
        let idempotencyRecord = KeyValueEntry(key: "word.a", value: Array("{}".utf8), revision: .max)
        try await mirror.apply([idempotencyRecord], at: moment, notifiesListeners: true)
        #expect(try await mirror.lookup(["01a1ffe0-72f0-7d1e-88ac-0abf1ff0fdc0"]).jobs.count == 1)
        try mirror.close()
    }

    @Test func `An unreadable value does not block other jobs`() async throws {
        let jetStream = try await JetStreamUnderTest(lease: .seconds(1))
        let ids = try await jetStream.driver.enqueue(.sample(), .sample())
        for text in ["{", "[]", #"{"id": 1e999}"#, String(repeating: "[", count: 100_000)] {
            let change = KeyValueBucket.Change(QueueKeys.job(ids[0].text), Array(text.utf8))
            _ = try await jetStream.queue.jobs.make(change)
        }
        #expect(try await jetStream.driver.claimSoon(10).map(\.job.id) == [ids[1]])
        await jetStream.queue.close()
    }
}
