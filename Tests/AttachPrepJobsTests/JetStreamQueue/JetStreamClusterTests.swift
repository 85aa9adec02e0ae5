import AttachPrep
import AttachPrepJobs
import Foundation
import JetStreamQueue
import NATS
import RichPush
import Synchronization
import TestSupport
import Testing

/// Jobs on a cluster of three servers with failures: none is lost, none ends twice.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil, "long"), .timeLimit(.minutes(10)))
struct JetStreamClusterTests {
    @Test func `Each job ends once without failures`() async throws {
        let load = try await ClusterLoad(machines: 2)
        let ended = try await load.run(jobs: 200) { _ in }
        #expect(ended.allSatisfy { $0 == 1 })
    }

    @Test func `Each job ends once while workers abandon jobs as if they were killed`() async throws {
        let load = try await ClusterLoad(machines: 2)
        let ended = try await load.run(jobs: 200, abandoning: 0.1) { _ in }
        #expect(ended.allSatisfy { $0 == 1 })
    }

    @Test(arguments: 0..<3)
    func `No job is lost or ends twice while a server is killed and restarted`(_ number: Int) async throws {
        let load = try await ClusterLoad(machines: 2)
        let ended = try await load.run(jobs: 300) { load in
            try await load.untilEnded(50)
            load.cluster.servers[number].kill()
            try await ClusterLoad.untilLeasesExpire()
            try await load.cluster.servers[number].restart()
        }
        #expect(ended.allSatisfy { $0 <= 1 } && ended.count == 300)
    }

    @Test func `No job is lost or ends twice while the servers are killed and restarted in turn`() async throws {
        let load = try await ClusterLoad(machines: 2)
        let ended = try await load.run(jobs: 600) { load in
            for server in load.cluster.servers + load.cluster.servers {
                try await load.untilEnded(min(load.ended.count + 10, 600))
                server.kill()
                try await ClusterLoad.untilLeasesExpire()
                try await server.restart()
            }
        }
        #expect(ended.allSatisfy { $0 <= 1 } && ended.count == 600)
    }

    @Test func `No job is lost or ends twice while a server is stopped for longer than a lease`() async throws {
        let load = try await ClusterLoad(machines: 2)
        let ended = try await load.run(jobs: 300) { load in
            try await load.untilEnded(50)
            load.cluster.servers[0].send(SIGSTOP)
            try await ClusterLoad.untilLeasesExpire()
            load.cluster.servers[0].send(SIGCONT)
        }
        #expect(ended.allSatisfy { $0 <= 1 } && ended.count == 300)
    }

    @Test func `No job is lost or ends twice while all servers are killed and restarted`() async throws {
        let load = try await ClusterLoad(machines: 2)
        let ended = try await load.run(jobs: 300) { load in
            try await load.untilEnded(50)
            for server in load.cluster.servers { server.kill() }
            for server in load.cluster.servers { try await server.restart() }
        }
        #expect(ended.allSatisfy { $0 <= 1 } && ended.count == 300)
    }

    @Test(.enabled(if: getuid() == 0, "mounts a disk"))
    func `No job is lost or ends twice while the disk of a server is full`() async throws {
        let load = try await ClusterLoad(machines: 2, diskMegabytes: 24)
        let ended = try await load.run(jobs: 300) { load in
            try await load.untilEnded(50)
            // Uploads fill the disk.
            for _ in 0..<8 { try await load.upload(bytes: 4_000_000) }
        }
        #expect(ended.allSatisfy { $0 <= 1 } && ended.count == 300)
    }
}

/// Machines that process jobs on a NATS cluster in real time, while a test disrupts the cluster.
final class ClusterLoad: Sendable {
    static let lease = Duration.seconds(2)

    let cluster: NATSCluster
    let queues: [NATSJobQueue]
    private let folders: [TemporaryFolder]
    private let state = Mutex((ended: [JobID: Int](), isOver: false))

    /// - Parameter diskMegabytes: the disk size of the first server; nil for no limit.
    init(machines: Int, diskMegabytes: Int? = nil) async throws {
        let cluster = try await NATSCluster.start(diskMegabytes: diskMegabytes)
        let folders = try (0..<machines).map { _ in try TemporaryFolder() }
        var queues: [NATSJobQueue] = []
        for folder in folders { queues.append(try await Self.open(cluster, folder)) }
        (self.cluster, self.folders, self.queues) = (cluster, folders, queues)
    }

    /// Opens a queue, with retries: a new cluster has no leader for some seconds.
    private static func open(_ cluster: NATSCluster, _ folder: TemporaryFolder) async throws -> NATSJobQueue {
        try await retrying("the cluster has a leader") {
            try await NATSJobQueue.open(
                QueueServers(NATSSettings(servers: cluster.urls, requestTimeout: .seconds(2))),
                folder: folder.path("machine"), lease: lease, feed: JobFeed())
        }
    }

    /// Repeats an operation until it succeeds.
    private static func retrying<Value: Sendable>(
        _ name: String, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let value = Mutex<Value?>(nil)
        try await pollUntil(name, seconds: 120) {
            guard let answer = try? await body() else { return false }
            value.withLock { $0 = answer }
            return true
        }
        guard let value = value.withLock({ $0 }) else { throw MissingError(name) }
        return value
    }

    /// Waits until `count` jobs have ended, with sweeps, which send a new message for jobs that have lost theirs.
    func untilEnded(_ count: Int) async throws {
        try await pollUntil("\(count) jobs have ended", seconds: 120) {
            for queue in self.queues { _ = try? await queue.sweep() }
            return self.ended.count >= count
        }
    }

    /// Uploads a file, with retries.
    func upload(bytes count: Int) async throws {
        let queue = queues[0]
        let digest = String(repeating: "ab", count: 32)
        try await pollUntil("an upload is stored", seconds: 120) {
            guard let begun = try? await queue.beginUpload() else { return false }
            try Data(count: count).write(to: URL(fileURLWithPath: begun.path))
            let stored = try? await queue.store(begun, bytes: count, sha256: digest)
            if stored == nil { await queue.discard(begun) }
            return stored != nil
        }
    }

    /// Waits for twice the lease time, so that every current lease has expired.
    static func untilLeasesExpire() async throws {
        let end = ContinuousClock.now + lease * 2
        try await pollUntil("the leases have expired") { ContinuousClock.now > end }
    }

    /// How often each job was finished with a valid lease.
    var ended: [JobID: Int] { state.withLock { $0.ended } }

    func stop() { state.withLock { $0.isOver = true } }

    private var isOver: Bool { state.withLock { $0.isOver } }

    /// Enqueues jobs one after the other, each with retries.
    private func enqueue(_ count: Int) async throws -> [JobID] {
        var ids: [JobID] = []
        for number in 0..<count {
            let key = IdempotencyKey(caller: "load", key: "\(number)", bodyDigest: "aa")
            let (submission, queue) = (JobSubmission.sample(host: nil), queues[number % queues.count])
            ids += try await Self.retrying("job \(number) is enqueued") {
                try await queue.enqueue([submission], idempotency: key).jobs.map(\.id)
            }
        }
        return ids
    }

    /// Claims and finishes jobs until it is stopped; abandons some, like a worker that is killed.
    private func work(on queue: NATSJobQueue, abandoning share: Double) async throws {
        while !isOver {
            let claimed = try await Self.retrying("jobs are claimed") { () -> [ClaimedJob] in
                if self.isOver { return [] }
                let claimed = try await queue.claim(8, by: "load", lease: Self.lease, hostLimit: 16)
                guard !claimed.isEmpty else { throw MissingError("no jobs") }
                return claimed
            }
            for job in claimed where Double.random(in: 0..<1) >= share { try await end(job, on: queue) }
        }
    }

    private func end(_ job: ClaimedJob, on queue: NATSJobQueue) async throws {
        let isFinished = try await Self.retrying("a job is finished") {
            if self.isOver { return false }
            return try await queue.finish(job.lease, .succeeded(.sample(), .make()), notice: nil)
        }
        if isFinished { state.withLock { $0.ended[job.job.id, default: 0] += 1 } }
    }

    /// Runs until all jobs have ended.
    ///
    /// - Parameter disruption: what happens to the cluster meanwhile.
    /// - Returns: how often each of the jobs was finished.
    func run(
        jobs count: Int, abandoning share: Double = 0,
        _ disruption: @escaping @Sendable (ClusterLoad) async throws -> Void
    ) async throws -> [Int] {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for queue in queues {
                group.addTask { try await self.work(on: queue, abandoning: share) }
            }
            async let disrupting: Void = disruption(self)
            let ids = try await enqueue(count)
            try await disrupting
            defer { stop() }
            try await pollUntil("all jobs have ended", seconds: 120) {
                for queue in self.queues { _ = try? await queue.sweep() }
                return (try? await self.queues[0].counts().byState[.succeeded]) == ids.count
            }
            return ids.map { ended[$0] ?? 0 }
        }
    }
}
