import AttachPrep
import Logging
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One attempt of a job: what must not begin, what is there already, and else the work.
struct JobAttempt: Sendable {
    let job: ClaimedJob
    let rooms: WorkerRooms
    let logger: Logger
    let claimedAt: Date
    private let began = ContinuousClock.now

    init(_ job: ClaimedJob, rooms: WorkerRooms, logger: Logger, claimedAt: Date) {
        self.job = job
        self.rooms = rooms
        self.logger = logger
        self.claimedAt = claimedAt
    }

    func run() async -> AttemptEnd {
        switch BeginningDecision(
            losses: job.losses, crashes: job.crashes, notAfter: job.request.terms.notAfter, now: claimedAt)
        {
        case .begin: break
        case .fail(let error): return .refused(.failed(refusal(error)))
        case .die(let error): return await died(error)
        }
        do {
            return try await find()
        } catch {
            logger.error("the attempt broke off", metadata: ["error": "\(error)"])
            return .rejected(refusal(error), failedAt: .now)
        }
    }

    /// What crashed the process is the end of all who wait for the same work: each of them would crash it again.
    private func died(_ error: AttachPrepError) async -> AttemptEnd {
        let manifest = refusal(error)
        if error.code == .jobCrashedService {
            do {
                _ = try await rooms.store.store(
                    manifest, folder: nil, for: job.key, freshness: nil, fetchedAt: claimedAt)
            } catch {
                logger.warning("the verdict could not be kept for others", metadata: ["error": "\(error)"])
            }
        }
        return .refused(.dead(manifest))
    }

    // MARK: What is there already

    private func find() async throws -> AttemptEnd {
        let stored = await standing(try await rooms.store.result(for: job.key))
        let upload = Upload.named(by: job.request.source)
        switch ReuseDecision(
            stored, dueAt: job.dueAt, createdAt: job.job.createdAt, isUpload: upload != nil, now: .now)
        {
        case .use(let kind): return try await use(stored, kind)
        case .ask(let validators): return try await work(upload, asking: validators, about: stored)
        case .fetch: return try await work(upload, asking: nil, about: nil)
        }
    }

    /// What was published is looked for, since others may remove it there; not what came while this job was due.
    private func standing(_ stored: StoredResult?) async -> StoredResult? {
        guard let stored, stored.manifest.error == nil, stored.fetchedAt < job.dueAt else { return stored }
        return await rooms.preparer.stands(stored.manifest) ? stored : nil
    }

    func use(_ stored: StoredResult?, _ kind: ReuseDecision.Kind) async throws -> AttemptEnd {
        guard let stored else { return try await work(nil, asking: nil, about: nil) }
        logger.info("reused", metadata: ["kind": "\(kind.rawValue)", "media": "\(stored.media)"])
        rooms.metrics.reused(kind)
        let manifest = JobManifest.reused(
            stored.manifest, for: job, waited: waited, total: milliseconds(since: began))
        if manifest.error?.code == .jobCrashedService { return .refused(.dead(manifest)) }
        guard manifest.error == nil else {
            return .rejected(manifest, failedAt: stored.fetchedAt.addingTimeInterval(stored.manifest.seconds))
        }
        return .prepared(manifest, stored.media)
    }

    // MARK: Ends, names and times

    func rejected(_ manifest: Manifest, fetchedAt: Date) -> AttemptEnd {
        .rejected(manifest, failedAt: fetchedAt.addingTimeInterval(manifest.seconds))
    }

    func refusal(_ error: any Error) -> Manifest {
        JobManifest.refusing(job, error, waited: waited)
    }

    /// By lease, since one that was lost may still be at work when the job is claimed anew.
    var folder: String { "\(job.id)-\(job.lease.token)" }

    /// What this job's own deadline forced is nobody else's result.
    var privateKey: WorkKey { WorkKey("\(job.key.text)-\(job.id)") }

    /// Milliseconds from when it was due until it was claimed.
    var waited: Double { max(0, claimedAt.timeIntervalSince(job.dueAt) * 1000) }

    private func milliseconds(since instant: ContinuousClock.Instant) -> Double {
        instant.duration(to: .now) / .milliseconds(1)
    }
}

extension ClaimedJob {
    var id: JobID { job.id }
}

extension Manifest {
    /// How long the work took.
    var seconds: Double { timings.total / 1000 }
}
