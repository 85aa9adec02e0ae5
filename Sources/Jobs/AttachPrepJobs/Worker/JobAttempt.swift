public import AttachPrep
public import AttachPrepModel
import FoundationEssentials
import Logging
import MediaEngine
import RichPush
import SafeArithmetic

/// One attempt of a job: rejects jobs that must not start, reuses a stored result, or does the work.
struct JobAttempt: Sendable {
    let job: ClaimedJob
    let dependencies: WorkerDependencies
    let logger: Logger
    let claimedAt: Date
    private let began = ContinuousClock.now

    init(_ job: ClaimedJob, dependencies: WorkerDependencies, logger: Logger, claimedAt: Date) {
        self.job = job
        self.dependencies = dependencies
        self.logger = logger
        self.claimedAt = claimedAt
    }

    func run() async -> AttemptResult {
        switch StartDecision(losses: job.losses, notAfter: job.request.jobOptions.notAfter, now: claimedAt) {
        case .begin: break
        case .fail(let error): return .notStarted(.failed(rejection(error)))
        case .markDead(let error): return await recordLosses(error)
        }
        do {
            return try await find()
        } catch {
            logger.error("the attempt failed unexpectedly", metadata: ["error": "\(error)"])
            return .rejected(rejection(error), failedAt: .now)
        }
    }

    /// Stores the losses as the result of the work key, because every job with this key would lose its workers as well.
    private func recordLosses(_ error: AttachPrepError) async -> AttemptResult {
        let manifest = rejection(error)
        do {
            _ = try await dependencies.store.store(
                manifest, folder: nil, for: job.key, freshness: nil, fetchedAt: claimedAt)
        } catch {
            logger.warning("the losses could not be stored for other jobs", metadata: ["error": "\(error)"])
        }
        return .notStarted(.dead(manifest))
    }

    // MARK: Stored results

    private func find() async throws -> AttemptResult {
        let stored = await stillPublished(try await dependencies.store.result(for: job.key))
        let upload = Upload.named(by: job.request.source)
        switch ReuseDecision(
            stored, dueAt: job.dueAt, createdAt: job.job.createdAt, isUpload: upload != nil, now: .now)
        {
        case .use(let kind): return try await use(stored, kind)
        case .revalidate(let validators): return try await prepare(upload, revalidating: validators, about: stored)
        case .fetch: return try await prepare(upload, revalidating: nil, about: nil)
        }
    }

    /// Checks that published files still exist, because others may have deleted them; results that are newer than the
    /// job's due time are not checked.
    private func stillPublished(_ stored: StoredResult?) async -> StoredResult? {
        guard let stored, stored.manifest.error == nil, stored.fetchedAt < job.dueAt else { return stored }
        return await dependencies.preparer.isStillPublished(stored.manifest) ? stored : nil
    }

    func use(_ stored: StoredResult?, _ kind: ReuseDecision.Kind) async throws -> AttemptResult {
        guard let stored else { return try await prepare(nil, revalidating: nil, about: nil) }
        logger.info("reused", metadata: ["kind": "\(kind.rawValue)", "media": "\(stored.media)"])
        dependencies.metrics.reused(kind)
        let manifest = JobManifest.reused(
            stored.manifest, for: job, waited: waited, total: milliseconds(since: began))
        if manifest.error?.code == .jobWorkerLost { return .notStarted(.dead(manifest)) }
        guard manifest.error == nil else {
            return .rejected(manifest, failedAt: stored.fetchedAt.addingTimeInterval(stored.manifest.seconds))
        }
        return .prepared(manifest, stored.media)
    }

    // MARK: Manifests, names and times

    func rejected(_ manifest: Manifest, fetchedAt: Date) -> AttemptResult {
        .rejected(manifest, failedAt: fetchedAt.addingTimeInterval(manifest.seconds))
    }

    func rejection(_ error: any Error) -> Manifest {
        JobManifest.rejecting(job, error, waited: waited)
    }

    /// Named by lease, because an attempt whose lease was lost may still run when the job is claimed again.
    var folder: String { "\(job.id)-\(job.lease.token)" }

    /// A result that was degraded by this job's own deadline is not shared with other jobs.
    var privateKey: WorkKey { WorkKey("\(job.key.text)-\(job.id)") }

    /// Milliseconds from due until claimed.
    var waited: Double { max(0, claimedAt.timeIntervalSince(job.dueAt) * 1000) }

    private func milliseconds(since instant: ContinuousClock.Instant) -> Double {
        instant.duration(to: .now) / .milliseconds(1)
    }
}

extension ClaimedJob {
    var id: JobID { job.id }
}

extension MediaShare {
    init(_ job: ClaimedJob) {
        let priority: Priority =
            switch job.request.jobOptions.priority {
            case .high: .high
            case .normal: .normal
            case .bulk: .bulk
            }
        let host = (try? WebAddress(job.request.source))?.host.lowercased()
        self.init(caller: job.job.origin.caller ?? "", host: host ?? "", priority: priority)
    }
}

extension Manifest {
    /// Duration of the work in seconds.
    var seconds: Double { timings.total / 1000 }
}

/// The work of an attempt, and storing its result.
extension JobAttempt {
    func prepare(_ upload: MediaID?, revalidating validators: SourceValidators?, about stored: StoredResult?)
        async throws -> AttemptResult
    {
        var task = PreparationTask(job.request)
        task.folder = folder
        task.logger = logger
        task.share = MediaShare(job)
        task.validators = validators
        if let upload { task.localFile = try await path(of: upload) }
        #if DEBUG
            TrapForTests.check(job.request.source)
        #endif
        let fetchedAt = Date.now.nextMillisecond
        let isCut = cut(&task.request, at: fetchedAt)
        let end = await dependencies.preparer.prepare(task)
        dependencies.metrics.record(dependencies.preparer.statistics)
        switch end {
        case .unchanged(let freshness):
            guard let stored, try await renew(stored, freshness, fetchedAt) else {
                return try await prepare(upload, revalidating: nil, about: nil)
            }
            return try await use(stored, .unchanged)
        case .ended(let manifest, let freshness):
            dependencies.metrics.worked(manifest.timings)
            log(manifest)
            let key = isCut && manifest.outcome == .bestAttempt ? privateKey : job.key
            return manifest.error == nil
                ? try await store(manifest, freshness, fetchedAt, for: key)
                : await record(isCut ? cutShort(manifest) : manifest, fetchedAt)
        }
    }

    private func path(of upload: MediaID) async throws -> String {
        guard let upload = try await dependencies.store.upload(upload) else {
            throw AttachPrepError(.sourceNotFound, "The upload no longer exists; send the file again.")
        }
        return try await dependencies.store.file(of: upload)
    }

    /// Limits the budget to the time left until `notAfter`.
    ///
    /// - Returns: Whether the budget was reduced.
    private func cut(_ request: inout AttachmentRequest, at date: Date) -> Bool {
        guard let notAfter = request.jobOptions.notAfter else { return false }
        let left = max(notAfter.timeIntervalSince(date), Self.budgetSecondsMin)
        guard left < request.budgetSeconds else { return false }
        request.budgetSeconds = left
        return true
    }

    /// Budgets must be greater than 0.
    private static let budgetSecondsMin = 0.001

    /// Returns false when the stored result was removed meanwhile.
    private func renew(_ stored: StoredResult, _ freshness: SourceFreshness, _ fetchedAt: Date) async throws -> Bool {
        try await dependencies.store.renew(stored.media, freshness, fetchedAt: fetchedAt)
        return try await dependencies.store.result(for: job.key)?.media == stored.media
    }

    // MARK: Storing results

    private func store(
        _ manifest: Manifest, _ freshness: SourceFreshness?, _ fetchedAt: Date, for key: WorkKey
    ) async throws -> AttemptResult {
        let path = "\(dependencies.preparer.output)/\(folder)"
        guard dependencies.activeLeases.status(of: job.lease) == .held else {
            try? FileManager.default.removeItem(atPath: path)
            return .interrupted
        }
        do {
            let stored = try await dependencies.store.store(
                manifest, folder: dependencies.preparer.keepsFolders ? path : nil, for: key, freshness: freshness,
                fetchedAt: fetchedAt)
            return .prepared(JobManifest.made(manifest, for: job, waited: waited), stored.media)
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    /// Stores a failure for all jobs with the same work key, unless it comes from this job's own deadline or from the
    /// machine.
    private func record(_ manifest: Manifest, _ fetchedAt: Date) async -> AttemptResult {
        guard manifest.error?.code != .cancelled, dependencies.activeLeases.status(of: job.lease) == .held else {
            return .interrupted
        }
        let isStorage = manifest.error.map { StorageCircuitBreaker.isStorage($0.code) } ?? false
        if !isStorage, manifest.error?.code != .deadlineNotAfter {
            do {
                _ = try await dependencies.store.store(
                    manifest, folder: nil, for: job.key, freshness: nil, fetchedAt: fetchedAt)
            } catch {
                // The other jobs will make their own attempts.
                logger.warning("the failure could not be stored for other jobs", metadata: ["error": "\(error)"])
            }
        }
        return rejected(JobManifest.made(manifest, for: job, waited: waited), fetchedAt: fetchedAt)
    }

    /// Replaces the error of a budget that ended at the job's own deadline: a larger budget would not have helped.
    private func cutShort(_ manifest: Manifest) -> Manifest {
        guard manifest.error?.code == .deadlineExceeded, let notAfter = job.request.jobOptions.notAfter else {
            return manifest
        }
        var manifest = manifest
        manifest.error = ManifestError(AttachPrepError.deadlineShortened(notAfter))
        return manifest
    }

    private func log(_ manifest: Manifest) {
        var metadata: Logger.Metadata = [
            "outcome": "\(manifest.outcome)",
            "milliseconds": .stringConvertible(Int(clamping: manifest.timings.total.rounded())),
        ]
        metadata["sourceBytes"] = manifest.source.bytes.map { .stringConvertible($0) }
        metadata["bytes"] = manifest.attachment.map { .stringConvertible($0.bytes) }
        metadata["code"] = manifest.error.map { "\($0.code.rawValue)" }
        metadata["reason"] = manifest.error.map { "\($0.message)" }
        logger.info(manifest.error == nil ? "prepared" : "rejected", metadata: metadata)
    }
}

extension Date {
    /// Rounded up to whole milliseconds, which every store represents exactly.
    fileprivate var nextMillisecond: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded(.up) / 1000)
    }
}

enum AttemptResult: Sendable {
    /// An attachment was prepared.
    case prepared(Manifest, MediaID)
    /// The source was rejected, with the time of the failure; the manifest contains the error.
    case rejected(Manifest, failedAt: Date)
    /// Work did not start.
    case notStarted(JobCompletion)
    /// Work was interrupted, without a result.
    case interrupted
}

/// Builds a job's manifest from the manifest of the work.
///
/// The id is the caller's, or else derived from the request; the source is named as in the request. `queue` is the
/// total wait: from due until claimed, plus the wait for media slots.
enum JobManifest {
    /// The manifest of work that was done for this job.
    static func made(_ manifest: Manifest, for job: ClaimedJob, waited: Double) -> Manifest {
        var manifest = manifest
        manifest.timings.queue = rounded(manifest.timings.queue + waited)
        return manifest
    }

    /// The manifest of a result that another job's work produced; only the lookup took time.
    static func reused(_ manifest: Manifest, for job: ClaimedJob, waited: Double, total: Double) -> Manifest {
        var manifest = manifest
        if let identity = try? RequestIdentity(job.request, localState: nil) { manifest.id = identity.id }
        manifest.source.url = RedactedURL.redact(job.request.source)
        manifest.timings = ManifestTimings()
        manifest.timings.queue = rounded(waited)
        manifest.timings.total = rounded(total)
        return manifest
    }

    /// The manifest of a job that ended without work.
    static func rejecting(_ job: ClaimedJob, _ error: any Error, waited: Double) -> Manifest {
        var manifest = Manifest(rejecting: job.request, error)
        manifest.timings.queue = rounded(waited)
        return manifest
    }

    /// Rounds to 0.01 ms, as all timings of a manifest.
    private static func rounded(_ milliseconds: Double) -> Double { (milliseconds * 100).rounded() / 100 }
}

/// Prepares the attachment of a job; implemented by `AttachmentPreparer` and by test doubles.
public protocol JobPreparing: Sendable {
    /// The folder in which result folders are created.
    var output: String { get }

    /// Counters since the start.
    var statistics: PreparerStatistics { get }

    /// Prepares one source.
    func prepare(_ task: PreparationTask) async -> PreparationResult

    /// Whether results are folders in `output`; false when they exist only where they were published.
    var keepsFolders: Bool { get }

    /// Whether the published files of a result still exist.
    func isStillPublished(_ manifest: Manifest) async -> Bool
}

extension JobPreparing {
    /// True for preparers that do not publish elsewhere.
    public var keepsFolders: Bool { true }

    /// True for preparers that do not publish elsewhere.
    public func isStillPublished(_ manifest: Manifest) async -> Bool { true }
}

extension AttachmentPreparer: JobPreparing {}
