import AttachPrep
import AttachPrepModel
import FoundationEssentials
import Logging
import RichPush
import SafeArithmetic
import Synchronization

/// The partial result of a job: the fallback that was prepared while the source was waited for.
final class ReportedPartial: Sendable {
    private let state: Mutex<(manifest: Manifest, media: MediaID)?>

    /// With the one that an earlier attempt reported.
    init(_ job: Job) {
        state = Mutex(
            job.partial.flatMap { manifest in job.media.map { (manifest, $0) } })
    }

    var result: (manifest: Manifest, media: MediaID)? { state.withLock { $0 } }

    func set(_ manifest: Manifest, _ media: MediaID) { state.withLock { $0 = (manifest, media) } }

    /// A completion whose result names the partial result that was reported before it.
    func noted(in completion: JobCompletion, at baseURL: String?) -> JobCompletion {
        guard case .succeeded(var manifest, let media) = completion, let result else { return completion }
        manifest.partialResult = ManifestPartialResult(result.manifest.located(result.media, at: baseURL))
        return .succeeded(manifest, media)
    }

    /// How the job ends when its source cannot be prepared: with the partial result; nil without one.
    func completion(after error: ManifestError, of job: ClaimedJob) -> JobCompletion? {
        result.map { .succeeded($0.manifest.final(after: error, of: job.request), $0.media) }
    }
}

extension PreparationResult {
    /// The result of a source with its entry in the list of those that were tried, before those of failed fallbacks.
    fileprivate func tried(before later: [ManifestTriedSource]) -> PreparationResult {
        guard case .ended(var manifest, let freshness) = self else { return self }
        // Bounded: array concatenation.
        manifest.source.tried = manifest.triedSources + (manifest.error == nil ? [] : later)
        return .ended(manifest, freshness)
    }
}

extension Manifest {
    /// The sources that were tried, also for a request with one.
    fileprivate var triedSources: [ManifestTriedSource] {
        source.tried ?? [ManifestTriedSource(url: source.url, code: error?.code)]
    }

    /// The result of a fallback as that of the request whose source failed.
    fileprivate func final(after error: ManifestError, of request: AttachmentRequest) -> Manifest {
        var manifest = self
        (manifest.isPartial, manifest.reportedAt) = (false, nil)
        // The first of a partial result is the source, which was still waited for.
        manifest.source.tried?[0].code = error.code
        return manifest
    }
}

/// Preparing a fallback as a partial result while the source is waited for.
extension JobAttempt {
    /// The preparation of a job's source, and meanwhile of its fallbacks.
    ///
    /// - Returns: The result of the source; when it failed for good, that of a fallback, if one can be prepared.
    func preparedWithPartial(_ task: PreparationTask) async -> PreparationResult {
        var first = sourceTask(task)
        guard partial.result == nil, let second = fallbackTask(task) else {
            return await dependencies.preparer.prepare(first).tried(before: [])
        }
        let source = SourceProgress()
        first.onWaiting = { [activity] waits in
            activity(waits)
            if waits { source.change(to: .waits) }
        }
        let fallback = start(second)
        let reporting = Task { await reportPartial(fallback.value, second, source) }
        let result = await withTaskCancellationHandler {
            await dependencies.preparer.prepare(first)
        } onCancel: {
            fallback.cancel()
        }
        if case .ended(let manifest, _) = result, let error = manifest.error {
            source.change(to: error.retryable ? .waits : .failed)
        } else {
            source.change(to: .prepared)
            fallback.cancel()
        }
        return await result.tried(before: reporting.value)
    }

    /// The source alone; the id is that of the whole request.
    private func sourceTask(_ task: PreparationTask) -> PreparationTask {
        var task = task
        task.request.fallbacks = []
        task.request.id = (try? RequestIdentity(job.request, localState: nil))?.id
        return task
    }

    /// The fallbacks as a request of their own; nil without one.
    private func fallbackTask(_ task: PreparationTask) -> PreparationTask? {
        let alternatives = task.request.alternatives.dropFirst()
        guard let fallback = alternatives.first else { return nil }
        var task = task
        task.request = fallback
        task.request.fallbacks = alternatives.dropFirst().map(\.source)
        task.request.id = nil
        task.localFile = task.fallbackFiles[fallback.source]
        (task.validators, task.folder) = (nil, task.folder.map { "\($0)-partial" })
        task.onWaiting = activity
        return task
    }

    /// Starts preparing the fallbacks, which counts as work of the job.
    private func start(_ fallbacks: PreparationTask) -> Task<PreparationResult, Never> {
        _ = dependencies.activeLeases.change(job.lease, working: 1)
        return Task {
            defer { workChanged(by: -1) }
            let result = await dependencies.preparer.prepare(fallbacks)
            dependencies.metrics.record(dependencies.preparer.statistics)
            return result
        }
    }

    /// Stores a fallback's result and reports it, unless it failed or came too late.
    ///
    /// - Returns: The fallbacks that failed.
    private func reportPartial(
        _ result: PreparationResult, _ task: PreparationTask, _ source: SourceProgress
    ) async -> [ManifestTriedSource] {
        guard case .ended(let prepared, _) = result else { return [] }
        guard prepared.error == nil else { return prepared.triedSources }
        let path = "\(dependencies.preparer.output)/\(task.folder ?? "")"
        let state = await source.settled()
        guard state != .prepared, dependencies.activeLeases.status(of: job.lease) == .held else {
            try? FileManager.default.removeItem(atPath: path)
            return []
        }
        do {
            // Of this job only, and kept as long as a job: a phone may fetch it after the final result has replaced it.
            let freshness = SourceFreshness(freshUntil: Date.now.addingTimeInterval(Limits.retentionSeconds))
            let stored = try await dependencies.store.store(
                prepared, folder: dependencies.preparer.keepsFolders ? path : nil,
                for: WorkKey("\(job.key.text)-\(job.id)-partial"), freshness: freshness, fetchedAt: .now)
            await report(partial(prepared), stored.media, state != .failed)
        } catch {
            try? FileManager.default.removeItem(atPath: path)
            logger.warning("the partial result could not be stored", metadata: ["error": "\(error)"])
        }
        return []
    }

    /// The manifest of a fallback as a partial result of the job.
    private func partial(_ prepared: Manifest) -> Manifest {
        var manifest = JobManifest.made(prepared, for: job, waited: waited)
        if let identity = try? RequestIdentity(job.request, localState: nil) {
            (manifest.id, manifest.requestDigest) = (identity.id, identity.digest)
        }
        manifest.isPartial = true
        let source = RedactedURL.redact(job.request.source)
        // Bounded: array concatenation.
        manifest.source.tried = [ManifestTriedSource(url: source, code: nil)] + manifest.triedSources
        manifest.source.url = source
        return manifest
    }

    /// Counts the preparations of the job that wait for their source.
    var activity: @Sendable (Bool) -> Void {
        { waits in workChanged(by: waits ? -1 : 1) }
    }

    private func workChanged(by difference: Int) {
        if dependencies.activeLeases.change(job.lease, working: difference) { onIdle() }
    }
}

/// How far the source of a job is when one of its fallbacks has been prepared.
private final class SourceProgress: Sendable {
    enum State: Sendable {
        /// Requested, and perhaps arriving.
        case requested
        /// Not there yet, or to be tried again.
        case waits
        case prepared
        /// For good: the fallback is the final result.
        case failed
    }

    private let state = Mutex(State.requested)
    private let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    func change(to new: State) {
        state.withLock { $0 = new }
        changed.yield()
    }

    /// The state, after a moment in which a source that is there may be prepared.
    func settled() async -> State {
        await withTaskGroup(of: Void.self) { [changes] group in
            group.addTask { for await _ in changes { return } }
            group.addTask { try? await ContinuousClock().sleep(for: .seconds(Limits.partialGraceSeconds)) }
            await group.next()
            group.cancelAll()
        }
        return state.withLock { $0 }
    }
}

extension Limits {
    /// Seconds that a prepared fallback is held back while the source may arrive, so that one notification is enough.
    static let partialGraceSeconds = 0.5
}
