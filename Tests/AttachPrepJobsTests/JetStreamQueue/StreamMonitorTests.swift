import AttachPrep
import AttachPrepJobs
import Foundation
import RichPush
import Synchronization
import TestSupport
import Testing

@testable import JetStreamQueue
@testable import NATS

@Suite struct LaneStreamRepairTests {
    /// What `checkStreams` sees at a time in seconds.
    private struct Observation {
        var second: Int64
        var lanes: StreamAvailability
        var jobs = StreamAvailability.available(.sample())
    }

    private func steps(_ observations: [Observation]) -> [LaneStreamRepair.Step] {
        var repair = LaneStreamRepair(patience: 20_000)
        return observations.map { repair.step(lanes: $0.lanes, jobs: $0.jobs, at: $0.second * 1_000) }
    }

    @Test func `A stream with a leader is left alone`() {
        let steps = steps([0, 30].map { Observation(second: $0, lanes: .available(.sample())) })
        #expect(steps == [.none, .none])
    }

    @Test func `A missing stream is made at once`() {
        #expect(steps([Observation(second: 0, lanes: .missing)]) == [.make])
    }

    @Test func `What could not be made in whole is completed as soon as the stream can be used`() {
        var repair = LaneStreamRepair(patience: 20_000)
        let lanes: [StreamAvailability] = [.missing, .unknown, .available(.sample())]
        let jobs = StreamAvailability.available(.sample())
        #expect(lanes.map { repair.step(lanes: $0, jobs: jobs, at: 0) } == [.make, .none, .make])
        repair.finished()
        #expect(repair.step(lanes: .available(.sample()), jobs: jobs, at: 0) == .none)
    }

    @Test func `A stream without a leader is replaced after twenty seconds, and again if that did not help`() {
        let steps = steps([0, 10, 19, 20, 25, 44, 45].map { Observation(second: $0, lanes: .leaderless) })
        #expect(steps == [.none, .none, .none, .replace, .none, .none, .replace])
    }

    @Test func `An election in between restarts the time`() {
        let steps = steps([
            Observation(second: 0, lanes: .leaderless), Observation(second: 15, lanes: .available(.sample())),
            Observation(second: 16, lanes: .leaderless), Observation(second: 35, lanes: .leaderless),
        ])
        #expect(steps == [.none, .none, .none, .none])
    }

    @Test func `Time without an answer does not count`() {
        let steps = steps([
            Observation(second: 0, lanes: .leaderless), Observation(second: 10, lanes: .leaderless),
            Observation(second: 15, lanes: .unknown), Observation(second: 300, lanes: .leaderless),
            Observation(second: 309, lanes: .leaderless), Observation(second: 310, lanes: .leaderless),
        ])
        #expect(steps == [.none, .none, .none, .none, .none, .replace])
    }

    @Test func `It is not replaced before all servers are connected`() {
        let others: [StreamAvailability] = [
            .leaderless, .unknown, .missing, .available(.sample(hasAllServers: false)), .available(.sample()),
        ]
        let steps = steps(
            others.enumerated().map { Observation(second: Int64($0) * 30, lanes: .leaderless, jobs: $1) })
        #expect(steps == [.none, .none, .none, .none, .replace])
    }
}

@Suite struct StreamOutagesTests {
    private func unavailableReason(_ observations: [(Int64, String, StreamAvailability)], at second: Int64) -> String? {
        var outages = StreamOutages()
        for (second, name, availability) in observations { outages.observe(name, availability, at: second * 1_000) }
        return outages.unavailableReason(at: second * 1_000, repaired: "lanes")
    }

    @Test func `An outage is reported after ten seconds, until it ends`() {
        #expect(unavailableReason([(0, "lanes", .leaderless)], at: 9) == nil)
        #expect(unavailableReason([(0, "lanes", .leaderless), (5, "lanes", .unknown)], at: 10) != nil)
        #expect(unavailableReason([(0, "lanes", .leaderless), (15, "lanes", .available(.sample()))], at: 20) == nil)
    }

    @Test func `The sentence names the stream that has been out the longest, and what happens next`() throws {
        let jobs = try #require(unavailableReason([(0, "jobs", .leaderless), (1, "lanes", .leaderless)], at: 30))
        #expect(jobs.contains("jobs has no leader; see"))
        let lanes = try #require(unavailableReason([(1, "jobs", .unknown), (0, "lanes", .leaderless)], at: 30))
        #expect(lanes.contains("lanes has no leader") && lanes.contains("made again"))
        #expect(try #require(unavailableReason([(0, "jobs", .unknown)], at: 30)).contains("majority"))
        #expect(try #require(unavailableReason([(0, "lanes", .missing)], at: 30)).contains("missing"))
    }
}

@Suite(.timeLimit(.minutes(2))) struct StreamRepairTests {
    @Test func `After its stream was deleted, every waiting job is delivered again`() async throws {
        let machine = try await JetStreamUnderTest()
        let priorities: [JobPriority] = (0..<1_200).map { [.high, .normal, .bulk][$0 % 3] }
        let jobs = try await machine.queue.enqueue(priorities.map { .sample(priority: $0) }, idempotency: nil).jobs
        try await pollUntil("the read model has them") { try await machine.queue.counts().due == 1_200 }
        try await machine.queue.stream.delete("attachprep_lanes")
        #expect(await machine.queue.stream.availability(machine.queue.layout.lanes) == .missing)
        await machine.queue.checkStreams()
        #expect(try await machine.queue.stream.messageCount("attachprep_lanes") == 1_200)
        let claimed = try await machine.driver.claim(50, hostLimit: 1_000)
        #expect(Set(claimed.map(\.job.id)).count == 50)
        #expect(try await !machine.driver.enqueue(.sample()).isEmpty)
        #expect(Set(claimed.map(\.job.id)).isSubset(of: jobs.map(\.id)))
        await machine.queue.close()
    }

    @Test func `Housekeeping makes a missing consumer again`() async throws {
        let machine = try await JetStreamUnderTest()
        _ = try await machine.driver.enqueue(.sample())
        _ = try await machine.queue.connection.request(
            OutgoingMessage("$JS.API.CONSUMER.DELETE.attachprep_lanes.normal"))
        _ = try await machine.queue.sweep()
        _ = try await machine.driver.claimOne()
        await machine.queue.close()
    }
}

@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil, "long"), .timeLimit(.minutes(5)))
struct LeaderlessStreamTests {
    /// One copy of each stream, on a server of its own, so that one can be lost.
    private func makeStreams(of cluster: NATSCluster) async throws {
        let connection = try await NATSConnection.connect(NATSSettings(servers: cluster.urls))
        defer { connection.close() }
        let common = #""storage": "file", "num_replicas": 1, "discard": "new", "placement": "#
        let streams = [
            "attachprep_lanes": #"""
            "subjects": ["attachprep.lanes.*.*"], "retention": "workqueue", \#(common) {"tags": ["node1"]}
            """#,
            "KV_attachprep_jobs": #"""
            "subjects": ["$KV.attachprep_jobs.>"], "max_msgs_per_subject": 1, "allow_rollup_hdrs": true,
            \#(common) {"tags": ["node0"]}
            """#,
        ]
        for (name, settings) in streams {
            let body = Array("{\"name\": \"\(name)\", \(settings)}".utf8)
            try await pollUntil("\(name) is made", seconds: 60) {
                let answer = try? await connection.request(OutgoingMessage("$JS.API.STREAM.CREATE.\(name)", body))
                return answer.map { String(decoding: $0.bytes, as: UTF8.self).contains("\"config\"") } ?? false
            }
        }
    }

    @Test func `A stream whose only server is lost is made again on another, also by a process that starts then`()
        async throws
    {
        let cluster = try await NATSCluster.start()
        try await makeStreams(of: cluster)
        let servers = QueueServers(
            NATSSettings(servers: cluster.urls, requestTimeout: .seconds(1)), replicas: 1)
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let queue = try await NATSJobQueue.open(servers, folder: folder.path("machine"), feed: JobFeed())
        let jobs = try await queue.enqueue([.sample(), .sample()], idempotency: nil).jobs

        cluster.servers[1].kill()
        try await pollUntil("the stream has no leader", seconds: 60) {
            await queue.stream.availability(queue.layout.lanes) == .leaderless
        }
        await #expect(throws: (any Error).self) { try await queue.enqueue([.sample()], idempotency: nil) }
        try await pollUntil("the queue reports it", seconds: 60) {
            queue.unavailableReason?.contains("no leader") ?? false
        }
        await queue.close()

        let late = try await NATSJobQueue.open(servers, folder: other.path("machine"), feed: JobFeed())
        try await pollUntil("the stream was made again", seconds: 90) {
            if case .available = await late.stream.availability(late.layout.lanes) { true } else { false }
        }
        let claimed = Mutex<Set<JobID>>([])
        try await pollUntil("the jobs are delivered", seconds: 30) {
            let more = try await late.claim(2, by: "late", lease: .seconds(15), hostLimit: 16).map(\.job.id)
            return claimed.withLock { claimed in
                claimed.formUnion(more)
                return claimed == Set(jobs.map(\.id))
            }
        }
        try await pollUntil("the queue is available", seconds: 30) { late.unavailableReason == nil }
        await late.close()
    }
}

extension StreamStatus {
    static func sample(hasAllServers: Bool = true) -> StreamStatus {
        StreamStatus(
            messages: 0, bytes: 0, replicas: 3, leader: "n1", hasLeader: true,
            laggingServers: hasAllServers ? [] : ["n2"], hasAllServers: hasAllServers)
    }
}
