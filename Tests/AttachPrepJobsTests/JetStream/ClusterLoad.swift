import AttachPrep
import AttachPrepJobs
import Foundation
import JetStreamQueue
import NATS
import RichPush
import Synchronization
import TestSupport

/// Machines that work jobs off a cluster, with the real clock, while something happens to it.
final class ClusterLoad: Sendable {
    static let lease = Duration.seconds(2)

    let cluster: NATSCluster
    let queues: [NATSJobQueue]
    private let folders: [TemporaryFolder]
    private let state = Mutex((ended: [JobID: Int](), isOver: false))

    /// - Parameter diskMegabytes: of the first server; nil for as much as there is.
    init(machines: Int, diskMegabytes: Int? = nil) async throws {
        let cluster = try await NATSCluster.start(diskMegabytes: diskMegabytes)
        let folders = try (0..<machines).map { _ in try TemporaryFolder() }
        var queues: [NATSJobQueue] = []
        for folder in folders { queues.append(try await Self.open(cluster, folder)) }
        (self.cluster, self.folders, self.queues) = (cluster, folders, queues)
    }

    /// A cluster needs some seconds until it has a leader.
    private static func open(_ cluster: NATSCluster, _ folder: TemporaryFolder) async throws -> NATSJobQueue {
        try await answered("the cluster has a leader") {
            try await NATSJobQueue.open(
                NATSSettings(servers: cluster.urls, requestTimeout: .seconds(2)),
                folder: folder.path("machine"), lease: lease, feed: JobFeed())
        }
    }

    /// Does something again and again until it does not fail.
    private static func answered<Value: Sendable>(
        _ name: String, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let value = Mutex<Value?>(nil)
        try await askUntil(name, seconds: 120) {
            guard let answer = try? await body() else { return false }
            value.withLock { $0 = answer }
            return true
        }
        guard let value = value.withLock({ $0 }) else { throw Missing(name) }
        return value
    }

    /// Waits until so many jobs have ended, with the housekeeping that gives a message to jobs that have lost theirs.
    func untilEnded(_ count: Int) async throws {
        try await askUntil("\(count) jobs have ended", seconds: 120) {
            for queue in self.queues { _ = try? await queue.sweep() }
            return self.ended.count >= count
        }
    }

    /// Sends a file, until it is kept.
    func upload(bytes count: Int) async throws {
        let queue = queues[0]
        let digest = String(repeating: "ab", count: 32)
        try await askUntil("an upload is kept", seconds: 120) {
            guard let begun = try? await queue.beginUpload() else { return false }
            try Data(count: count).write(to: URL(fileURLWithPath: begun.path))
            let kept = try? await queue.keep(begun, bytes: count, sha256: digest)
            if kept == nil { await queue.discard(begun) }
            return kept != nil
        }
    }

    /// Waits until every lease of now has run out, twice over.
    static func untilLeasesAreOver() async throws {
        let end = ContinuousClock.now + lease * 2
        try await askUntil("leases are over") { ContinuousClock.now > end }
    }

    /// How often each job was ended by somebody who was told that it was he.
    var ended: [JobID: Int] { state.withLock { $0.ended } }

    func stop() { state.withLock { $0.isOver = true } }

    private var isOver: Bool { state.withLock { $0.isOver } }

    /// Puts jobs in one after the other, each until it is in.
    private func put(_ count: Int) async throws -> [JobID] {
        var ids: [JobID] = []
        for number in 0..<count {
            let key = IdempotencyKey(caller: "load", key: "\(number)", bodyDigest: "aa")
            let (submission, queue) = (JobSubmission.sample(host: nil), queues[number % queues.count])
            ids += try await Self.answered("job \(number) is in") {
                try await queue.enqueue([submission], idempotency: key).jobs.map(\.id)
            }
        }
        return ids
    }

    /// Claims jobs and ends them until it is stopped; forgets some, as a worker does that is killed.
    private func work(on queue: NATSJobQueue, forgetting share: Double) async throws {
        while !isOver {
            let claimed = try await Self.answered("jobs are given") { () -> [ClaimedJob] in
                if self.isOver { return [] }
                let claimed = try await queue.claim(8, by: "load", lease: Self.lease, hostLimit: 16)
                guard !claimed.isEmpty else { throw Missing("nothing there") }
                return claimed
            }
            for job in claimed where Double.random(in: 0..<1) >= share { try await end(job, on: queue) }
        }
    }

    private func end(_ job: ClaimedJob, on queue: NATSJobQueue) async throws {
        let isMine = try await Self.answered("a job is ended") {
            if self.isOver { return false }
            return try await queue.finish(job.lease, .succeeded(.sample(), .make()), notice: nil)
        }
        if isMine { state.withLock { $0.ended[job.job.id, default: 0] += 1 } }
    }

    /// Runs until all jobs have ended.
    ///
    /// - Parameter trouble: what happens to the cluster meanwhile.
    /// - Returns: how often each of the jobs was ended.
    func run(
        jobs count: Int, forgetting share: Double = 0,
        _ trouble: @escaping @Sendable (ClusterLoad) async throws -> Void
    ) async throws -> [Int] {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for queue in queues {
                group.addTask { try await self.work(on: queue, forgetting: share) }
            }
            async let happens: Void = trouble(self)
            let ids = try await put(count)
            try await happens
            defer { stop() }
            try await askUntil("all jobs have ended", seconds: 120) {
                for queue in self.queues { _ = try? await queue.sweep() }
                return (try? await self.queues[0].counts().byState[.succeeded]) == ids.count
            }
            return ids.map { ended[$0] ?? 0 }
        }
    }
}
