import AttachPrep
import AttachPrepModel
import FoundationEssentials
import Logging
import MediaEngine
import MediaTypes
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
        switch StartDecision(
            losses: job.losses, notAfter: job.request.jobOptions.notAfter, overdue: overdue, now: claimedAt)
        {
        case .begin: break
        case .fail(let error): return .notStarted(.failed(rejection(error)))
        case .markDead(let error): return await recordLosses(error)
        }
        do {
            return try await find()
        } catch {
            logger.error("the attempt failed unexpectedly", metadata: ["error": "\(error)"])
            return await failed(rejection(error), failedAt: .now)
        }
    }

    /// The error of a dependency for which the job has waited for as long as results are kept; nil for other jobs.
    private var overdue: AttachPrepError? {
        guard job.waitsSince != nil, let error = job.job.error else { return nil }
        let limit = WaitLimit(job, retentionSeconds: dependencies.settings.retentionSeconds, now: claimedAt)
        guard limit.retentionEnd <= claimedAt else { return nil }
        return AttachPrepError(error.code, error.message, isRetryable: error.retryable)
    }

    /// The result of an attempt that failed: a wait, if its error names a dependency that is away.
    func failed(_ manifest: Manifest, failedAt: Date) async -> AttemptResult {
        guard let error = manifest.error else { return .rejected(manifest, failedAt: failedAt) }
        let outage = await resolverOutage(after: error)
        guard let dependency = Dependency(namedBy: error.code, isResolverAway: outage != nil) else {
            return .rejected(manifest, failedAt: failedAt)
        }
        return .waiting(dependency, outage ?? error)
    }

    /// Why no name is resolved; nil when names are, or when the failure is another one.
    private func resolverOutage(after error: ManifestError) async -> ManifestError? {
        // A name that does not exist was answered, so that its error is not retryable.
        guard error.code == .downloadDNS, error.retryable else { return nil }
        do {
            try await dependencies.preparer.probe(.resolver)
            return nil
        } catch {
            return (error as? AttachPrepError).map { ManifestError($0) }
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
        // Each attempt has a secret of its own: what an earlier one stored is not used again.
        if job.request.seal {
            return try await prepare(Upload.named(by: job.request.source), revalidating: nil, about: nil)
        }
        if let end = try await publishHeld() { return end }
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

    /// Publishes the result that waited when an earlier process ended; nil when there is none.
    private func publishHeld() async throws -> AttemptResult? {
        let held = dependencies.heldResults
        guard let record = held.record(of: job.id) else { return nil }
        let found = await dependencies.preparer.unpublished(
            record.manifest, freshness: record.freshness, in: held.folder(of: job.id))
        guard let found else {
            held.remove(job.id)
            return nil
        }
        logger.info("rendered before; is published now")
        // Whether it is best only because of this job's own deadline is not known any more.
        let isPrivate = found.manifest.outcome == .bestAttempt && job.request.jobOptions.notAfter != nil
        return try await HeldResult(attempt: self, result: found, fetchedAt: record.fetchedAt).end(after: nil) {
            try await store(
                $0, freshness: found.freshness, fetchedAt: record.fetchedAt, for: isPrivate ? privateKey : job.key)
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
        task.keepsUnpublished = true
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
            guard let stored, try await renew(stored, freshness: freshness, fetchedAt: fetchedAt) else {
                return try await prepare(upload, revalidating: nil, about: nil)
            }
            return try await use(stored, .unchanged)
        case .ended(let manifest, let freshness):
            dependencies.metrics.worked(manifest.timings)
            log(manifest)
            if manifest.error == nil, !dependencies.preparer.keepsFolders {
                dependencies.breakers.recordSuccess(.bucket, .signingKey)
            }
            let key = isCut && manifest.outcome == .bestAttempt ? privateKey : job.key
            return manifest.error == nil
                ? try await store(manifest, freshness: freshness, fetchedAt: fetchedAt, for: key)
                : await record(isCut ? cutShort(manifest) : manifest, fetchedAt: fetchedAt)
        case .unpublished(let result, let error):
            dependencies.metrics.worked(result.manifest.timings)
            let isPrivate = isCut && result.manifest.outcome == .bestAttempt
            return try await HeldResult(attempt: self, result: result, fetchedAt: fetchedAt).end(after: error) {
                try await store(
                    $0, freshness: result.freshness, fetchedAt: fetchedAt, for: isPrivate ? privateKey : job.key)
            }
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
    private func renew(_ stored: StoredResult, freshness: SourceFreshness, fetchedAt: Date) async throws -> Bool {
        try await dependencies.store.renew(stored.media, freshness, fetchedAt: fetchedAt)
        return try await dependencies.store.result(for: job.key)?.media == stored.media
    }

    // MARK: Storing results

    private func store(
        _ manifest: Manifest, freshness: SourceFreshness?, fetchedAt: Date, for key: WorkKey
    ) async throws -> AttemptResult {
        let path = "\(dependencies.preparer.output)/\(folder)"
        guard dependencies.activeLeases.status(of: job.lease) == .held else {
            try? FileManager.default.removeItem(atPath: path)
            return .interrupted
        }
        do {
            let stored = try await stored(manifest, path: path, freshness: freshness, fetchedAt: fetchedAt, for: key)
            return .prepared(JobManifest.made(manifest, for: job, waited: waited), stored.media)
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    /// Stores a result. One whose files are published waits for the database: otherwise its source would be
    /// downloaded again for nothing.
    private func stored(
        _ manifest: Manifest, path: String, freshness: SourceFreshness?, fetchedAt: Date, for key: WorkKey
    ) async throws -> StoredResult {
        let folder = dependencies.preparer.keepsFolders ? path : nil
        let limit = WaitLimit(job, retentionSeconds: dependencies.settings.retentionSeconds, now: .now)
        var isTrial = false
        while true {
            do {
                return try await dependencies.store.store(
                    manifest, folder: folder, for: key, freshness: freshness, fetchedAt: fetchedAt)
            } catch let error as AttachPrepError where error.code == .queueUnavailable && folder == nil {
                dependencies.breakers.recordFailure(.database, error.message, isTrial: isTrial)
                guard dependencies.activeLeases.status(of: job.lease) == .held else { throw error }
                let turn = try await dependencies.breakers.wait(for: .database, until: limit.end)
                guard turn != .over else { throw error }
                isTrial = turn == .trial
            }
        }
    }

    /// Stores a failure for all jobs with the same work key, unless it comes from this job's own deadline or from the
    /// machine.
    private func record(_ manifest: Manifest, fetchedAt: Date) async -> AttemptResult {
        guard manifest.error?.code != .cancelled, dependencies.activeLeases.status(of: job.lease) == .held else {
            return .interrupted
        }
        let manifest = JobManifest.made(manifest, for: job, waited: waited)
        let end = await failed(manifest, failedAt: fetchedAt.addingTimeInterval(manifest.seconds))
        if case .waiting = end { return end }
        if manifest.error?.code != .deadlineNotAfter {
            do {
                _ = try await dependencies.store.store(
                    manifest, folder: nil, for: job.key, freshness: nil, fetchedAt: fetchedAt)
            } catch {
                // The other jobs will make their own attempts.
                logger.warning("the failure could not be stored for other jobs", metadata: ["error": "\(error)"])
            }
        }
        return end
    }

    /// Replaces the error of a budget that ended at the job's own deadline: a larger budget would not have helped.
    func cutShort(_ manifest: Manifest) -> Manifest {
        guard manifest.error?.code == .deadlineExceeded, let notAfter = job.request.jobOptions.notAfter else {
            return manifest
        }
        var manifest = manifest
        manifest.error = ManifestError(AttachPrepError.deadlineShortened(notAfter))
        return manifest
    }

    func log(_ manifest: Manifest) {
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
    /// A dependency is away, which is not the job's fault.
    case waiting(Dependency, ManifestError)
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
