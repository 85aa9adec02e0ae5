import AttachPrep
import Logging
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One attempt of a job: what must not begin, what is there already, the work, and its result into the store.
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
        switch BeginningDecision(losses: job.losses, notAfter: job.request.terms.notAfter, now: claimedAt) {
        case .begin: break
        case .fail(let error): return .refused(.failed(refusal(error)))
        case .die(let error): return .refused(.dead(refusal(error)))
        }
        do {
            return try await find()
        } catch {
            logger.error("the attempt broke off", metadata: ["error": "\(error)"])
            return rejected(refusal(error), fetchedAt: claimedAt)
        }
    }

    // MARK: What is there already

    private func find() async throws -> AttemptEnd {
        let stored = try await rooms.store.result(for: job.key)
        let upload = Upload.named(by: job.request.source)
        switch ReuseDecision(stored, dueAt: job.dueAt, isUpload: upload != nil, now: .now) {
        case .use(let kind): return try await use(stored, kind)
        case .ask(let validators): return try await work(upload, asking: validators, about: stored)
        case .fetch: return try await work(upload, asking: nil, about: nil)
        }
    }

    private func use(_ stored: StoredResult?, _ kind: ReuseDecision.Kind) async throws -> AttemptEnd {
        guard let stored else { return try await work(nil, asking: nil, about: nil) }
        logger.info("reused", metadata: ["kind": "\(kind.rawValue)", "media": "\(stored.media)"])
        rooms.metrics.reused(kind)
        let manifest = JobManifest.reused(
            stored.manifest, for: job, waited: waited, total: milliseconds(since: began))
        guard manifest.error == nil else {
            return .rejected(manifest, failedAt: stored.fetchedAt.addingTimeInterval(stored.manifest.seconds))
        }
        return .prepared(manifest, stored.media)
    }

    // MARK: The work

    private func work(_ upload: MediaID?, asking validators: SourceValidators?, about stored: StoredResult?)
        async throws -> AttemptEnd
    {
        var order = PreparationOrder(job.request)
        order.folder = folder
        order.logger = logger
        order.validators = validators
        if let upload { order.localFile = try await path(of: upload) }
        let fetchedAt = Date.now.nextMillisecond
        let isCut = cut(&order.request, at: fetchedAt)
        let end = await rooms.preparer.carryOut(order)
        rooms.metrics.note(rooms.preparer.statistics)
        switch end {
        case .unchanged(let freshness):
            guard let stored, try await renew(stored, freshness, fetchedAt) else {
                return try await work(upload, asking: nil, about: nil)
            }
            return try await use(stored, .unchanged)
        case .ended(let manifest, let freshness):
            rooms.metrics.worked(manifest.timings)
            log(manifest)
            let key = isCut && manifest.outcome == .bestAttempt ? privateKey : job.key
            return manifest.error == nil
                ? try await keep(manifest, freshness, fetchedAt, for: key)
                : await note(manifest, fetchedAt, isCut: isCut)
        }
    }

    private func path(of upload: MediaID) async throws -> String {
        guard let path = try await rooms.store.upload(upload)?.path else {
            throw AttachPrepError(.sourceNotFound, "The upload is no longer there; send the file again.")
        }
        return path
    }

    /// Takes from the budget what lies behind the job's own deadline; tells whether that was something.
    private func cut(_ request: inout AttachmentRequest, at date: Date) -> Bool {
        guard let notAfter = request.terms.notAfter else { return false }
        let left = max(notAfter.timeIntervalSince(date), Self.budgetSecondsMin)
        guard left < request.budgetSeconds else { return false }
        request.budgetSeconds = left
        return true
    }

    /// A budget is over 0.
    private static let budgetSecondsMin = 0.001

    /// False when the result went meanwhile.
    private func renew(_ stored: StoredResult, _ freshness: SourceFreshness, _ fetchedAt: Date) async throws -> Bool {
        try await rooms.store.renew(stored.media, freshness, fetchedAt: fetchedAt)
        return try await rooms.store.result(for: job.key)?.media == stored.media
    }

    // MARK: What came of it

    private func keep(
        _ manifest: Manifest, _ freshness: SourceFreshness?, _ fetchedAt: Date, for key: WorkKey
    ) async throws -> AttemptEnd {
        let path = "\(rooms.preparer.output)/\(folder)"
        guard rooms.hands.standing(of: job.lease) == .held else {
            try? FileManager.default.removeItem(atPath: path)
            return .interrupted
        }
        do {
            let stored = try await rooms.store.store(
                manifest, folder: path, for: key, freshness: freshness, fetchedAt: fetchedAt)
            return .prepared(JobManifest.made(manifest, for: job, waited: waited), stored.media)
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    /// A failure is that of all who wait for the same work, unless it is one of this job's own time.
    private func note(_ manifest: Manifest, _ fetchedAt: Date, isCut: Bool) async -> AttemptEnd {
        guard manifest.error?.code != .cancelled, rooms.hands.standing(of: job.lease) == .held else {
            return .interrupted
        }
        if !(isCut && manifest.error?.code == .deadlineExceeded) {
            do {
                _ = try await rooms.store.store(
                    manifest, folder: nil, for: job.key, freshness: nil, fetchedAt: fetchedAt)
            } catch {
                // The others find out for themselves.
                logger.warning("the failure could not be kept for others", metadata: ["error": "\(error)"])
            }
        }
        return rejected(JobManifest.made(manifest, for: job, waited: waited), fetchedAt: fetchedAt)
    }

    private func rejected(_ manifest: Manifest, fetchedAt: Date) -> AttemptEnd {
        .rejected(manifest, failedAt: fetchedAt.addingTimeInterval(manifest.seconds))
    }

    private func refusal(_ error: any Error) -> Manifest {
        JobManifest.refusing(job, error, waited: waited)
    }

    private func log(_ manifest: Manifest) {
        var facts: Logger.Metadata = [
            "outcome": "\(manifest.outcome)", "ms": "\(Int(manifest.timings.total.rounded()))",
        ]
        facts["source"] = manifest.source.bytes.map { "\($0)" }
        facts["bytes"] = manifest.attachment.map { "\($0.bytes)" }
        facts["code"] = manifest.error.map { "\($0.code.rawValue)" }
        facts["reason"] = manifest.error.map { "\($0.message)" }
        logger.info(manifest.error == nil ? "prepared" : "rejected", metadata: facts)
    }

    // MARK: Names and times

    /// By lease, since one that was lost may still be at work when the job is claimed anew.
    private var folder: String { "\(job.id)-\(job.lease.token)" }

    /// What this job's own deadline forced is nobody else's result.
    private var privateKey: WorkKey { WorkKey("\(job.key.text)-\(job.id)") }

    /// Milliseconds from when it was due until it was claimed.
    private var waited: Double { max(0, claimedAt.timeIntervalSince(job.dueAt) * 1000) }

    private func milliseconds(since instant: ContinuousClock.Instant) -> Double {
        instant.duration(to: .now) / .milliseconds(1)
    }
}

extension Date {
    /// Whole milliseconds, which every store keeps exactly, and not before this.
    fileprivate var nextMillisecond: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded(.up) / 1000)
    }
}

extension ClaimedJob {
    var id: JobID { job.id }
}

extension Manifest {
    /// How long the work took.
    fileprivate var seconds: Double { timings.total / 1000 }
}
