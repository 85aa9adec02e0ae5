public import AttachPrepModel
import Logging
import MediaEngine
import RichPush
import SafeArithmetic
import Tracing

/// The pipeline of one request. Each stage takes the complete value of the stage before.
struct PreparationPipeline: Sendable {
    /// Of one source; those of a request's other sources are in `fallbacks`.
    var request: AttachmentRequest
    let identity: RequestIdentity
    var location: SourceLocation
    let dependencies: PipelineDependencies
    let output: String
    let logger: Logger
    /// The folder name of the result; nil for the manifest's id.
    var folder: String?
    /// Called with the manifest and the staging folder's path before the files are published.
    var onFiles: (@Sendable (Manifest, String) async -> Void)?
    /// Validators of an earlier fetch, for a conditional request; nil fetches in any case.
    var validators: SourceValidators?
    /// All sources of a request with fallbacks; empty for one with a single source.
    var candidates: [SourceCandidate] = []
    /// The sources that were tried before this one; nil for a request with a single source.
    var tried: [ManifestTriedSource]?
    /// Called when the download begins to wait for a source that does not exist yet, and when it has ended waiting.
    var onWaiting: (@Sendable (Bool) -> Void)?
    /// Records the stages of a traced request; nil for others.
    var spans: StageSpans?

    /// Runs the stages: fetch and identify, inspect, plan, render, publish. Never throws: an error ends as a rejected
    /// manifest.
    func run() async -> PreparationResult {
        var clock = RequestClock(budgetSeconds: request.budgetSeconds)
        guard candidates.isEmpty else { return await preparedFirst(of: candidates, &clock) }
        return await attempt(&clock) { $0 }
    }

    /// Prepares one source.
    ///
    /// - Parameter fetchDeadline: When the source must be downloaded, given the deadline of the request.
    func attempt(
        _ clock: inout RequestClock, fetchDeadline: (ContinuousClock.Instant) -> ContinuousClock.Instant
    ) async -> PreparationResult {
        var manifest = Manifest(
            id: identity.id, requestDigest: identity.digest, outcome: .rejected,
            source: ManifestSource(url: RedactedURL.redact(candidates.first?.request.source ?? request.source)))
        // Bounded: array concatenation.
        manifest.source.tried = tried.map {
            $0 + [ManifestTriedSource(url: RedactedURL.redact(request.source), code: nil)]
        }
        var freshness: SourceFreshness?
        do {
            let staging = try StagingFolder(output: output)
            defer { staging.discard() }
            let source = try await fetch(staging, fetchDeadline(clock.deadline))
            freshness = source.freshness
            manifest.source.record(source)
            manifest.timings = source.timings
            var (media, early) = try await inspect(source, staging, &clock, &manifest.timings)
            if source.playlist == nil { manifest.source.mimeType = media.format.mimeType }
            var plan = PreparationPlan(media: media, bytes: source.bytes, request: request)
            manifest.source.recordAttachability(of: media, source, isRendered: false)
            if let error = plan.error { throw error }
            var renditions: Renditions
            do {
                renditions = try await render(plan, early, source, staging, &clock, &manifest.timings)
            } catch let error as AttachPrepError where error.code == .mediaCorrupt {
                media = try await damaged(media, source, &clock, &manifest.timings, after: error)
                plan = PreparationPlan(media: media, bytes: source.bytes, request: request)
                manifest.source.attachable = false
                if let error = plan.error { throw error }
                renditions = try await render(plan, nil, source, staging, &clock, &manifest.timings)
            }
            if !media.isValidated, media.damage == nil {
                renditions.markDegraded("the file was not validated completely because the time budget ran short")
            }
            manifest.source.recordAttachability(of: media, source, isRendered: renditions.hasImage)
            manifest.timings.queue = clock.queueMilliseconds
            return .ended(try await publish(plan, media, source, renditions, staging, manifest, clock), freshness)
        } catch let unchanged as UnchangedSourceError {
            return .unchanged(unchanged.freshness)
        } catch {
            manifest.timings.queue = clock.queueMilliseconds
            return .ended(reject(manifest, error, clock), freshness)
        }
    }

    // MARK: Stages

    private func fetch(_ staging: StagingFolder, _ deadline: ContinuousClock.Instant) async throws -> FetchedSource {
        let step = FetchStep(
            request: request, location: location, dependencies: dependencies, staging: staging, deadline: deadline,
            validators: validators, onWaiting: onWaiting)
        let began = ContinuousClock.now
        do {
            let source = try await withDeadline(deadline, stage: "fetching") { try await step.run() }
            spans?.ended(source.timings.fetchStages)
            return source
        } catch {
            spans?.ended(
                "fetch", milliseconds: began.duration(to: .now).milliseconds,
                error: error is UnchangedSourceError ? nil : error)
            throw error
        }
    }

    private func inspect(
        _ source: FetchedSource, _ staging: StagingFolder, _ clock: inout RequestClock,
        _ timings: inout ManifestTimings
    ) async throws -> (InspectedMedia, EarlyThumbnail?) {
        let query = InspectStep.query(
            format: source.identified.format, bytes: source.bytes, for: request)
        if let early = await source.early?.inspection(for: query) {
            timings.inspect = early.milliseconds
            spans?.ended("inspect", milliseconds: timings.inspect)
            return (early.media, early.thumbnail)
        }
        let slotResult = try await dependencies.engine(for: source, of: request).withSlot(.query, clock) {
            engine, clock in
            try await InspectStep(
                query: query, source: source.descriptor, engine: engine, staging: staging,
                deadline: clock.deadline
            ).run()
        }
        record(slotResult, "inspect", after: clock)
        clock = slotResult.clock
        timings.inspect = slotResult.milliseconds
        return try slotResult.result.get()
    }

    private func render(
        _ plan: PreparationPlan, _ early: EarlyThumbnail?, _ source: FetchedSource, _ staging: StagingFolder,
        _ clock: inout RequestClock, _ timings: inout ManifestTimings
    ) async throws -> Renditions {
        if let early = await source.early?.renditions(for: plan.conversion == nil ? plan.images : nil) {
            timings.render = early.milliseconds
            spans?.ended("render", milliseconds: timings.render)
            return early.renditions.delivering(plan.passedType)
        }
        if plan.images == nil, plan.conversion == nil { return Renditions(delivering: plan.passedType) }
        let reserve = dependencies.target.reserveSeconds(ofBudget: request.budgetSeconds)
        // An existing thumbnail needs no media slot.
        let isAlreadyRendered = plan.conversion == nil && early?.matches(plan.images) == true
        let slotResult = try await dependencies.engine(for: source, of: request).withSlot(
            isAlreadyRendered ? nil : .render, clock
        ) {
            [dependencies] engine, clock in
            try await RenderSequence(
                plan: plan, source: source, engine: engine, blocking: dependencies.blocking, staging: staging,
                deadline: clock.deadline - .seconds(clamping: reserve), early: early
            ).run()
        }
        record(slotResult, "render", after: clock)
        clock = slotResult.clock
        timings.render = slotResult.milliseconds
        return try slotResult.result.get()
    }

    /// Records the wait for a slot and the work there.
    private func record<Value>(_ slotResult: SlotResult<Value>, _ stage: String, after clock: RequestClock) {
        // Bounded: floating point.
        let waited = slotResult.clock.queueMilliseconds - clock.queueMilliseconds
        var error: (any Error)?
        if case .failure(let failure) = slotResult.result { error = failure }
        let queue = waited >= Self.shownWaitMilliseconds ? waited : 0
        spans?.ended([("queue", queue), (stage, slotResult.milliseconds)], error: error)
    }

    /// Shorter waits for a media slot get no span: they are the time of a lock.
    private static let shownWaitMilliseconds = 1.0

    private func publish(
        _ plan: PreparationPlan, _ media: InspectedMedia, _ source: FetchedSource, _ renditions: Renditions,
        _ staging: StagingFolder, _ manifest: Manifest, _ clock: RequestClock
    ) async throws -> Manifest {
        let (target, began) = (dependencies.target, ContinuousClock.now)
        let step = PublishStep(
            plan: plan, media: media, source: source, renditions: renditions, request: request, target: target,
            staging: staging)
        let work: () async throws -> Manifest = {
            var complete = try await dependencies.blocking.run { try step.complete(manifest) }
            await onFiles?(complete, staging.path)
            try await target.publishFiles(result(complete, staging, clock))
            complete.timings.publish = began.duration(to: .now).milliseconds
            complete.timings.total = clock.milliseconds
            complete.timings.round()
            try await target.complete(result(complete, staging, clock))
            return complete
        }
        guard let spans else { return try await work() }
        return try await spans.during("publish", work)
    }

    private func result(_ manifest: Manifest, _ staging: StagingFolder, _ clock: RequestClock) -> FinishedResult {
        FinishedResult(manifest: manifest, staging: staging, folder: folder, deadline: clock.deadline)
    }

    // MARK: Manifest

    private func reject(_ manifest: Manifest, _ error: any Error, _ clock: RequestClock) -> Manifest {
        let known = AttachPrepError(wrapping: error)
        logger.debug("rejected", metadata: ["id": "\(identity.id)", "error": "\(known)"])
        var rejected = manifest
        rejected.reject(known)
        rejected.source.recordRejection(known.code)
        if let last = rejected.source.tried?.indices.last { rejected.source.tried?[last].code = known.code }
        rejected.timings.total = clock.milliseconds
        rejected.timings.round()
        return rejected
    }
}

extension ManifestTimings {
    /// The stages of a fetch, in their order. Identification runs during the transfer, of which it is not a part here.
    fileprivate var fetchStages: [(name: String, milliseconds: Double)] {
        [
            ("dns", dns), ("connect", connect), ("tls", tls), ("firstByte", firstByte), ("transfer", transfer),
            ("identify", identify),
        ]
    }

    /// Rounds all timings to 0.01 ms.
    mutating func round() {
        for field in [
            \ManifestTimings.queue, \.dns, \.connect, \.tls, \.firstByte, \.transfer, \.identify, \.inspect, \.render,
            \.publish, \.total,
        ] {
            self[keyPath: field] = (self[keyPath: field] * 100).rounded() / 100
        }
    }
}

/// A second inspection of a still, after its render found it damaged.
///
/// The first inspection reads only a still's header, since its render decodes all data anyway; damage is known only
/// then. Intact files are not inspected twice.
extension PreparationPipeline {
    /// Inspects the still again and returns it with its damage, for a plan that repairs it.
    ///
    /// - Parameter error: The error of the render, which is rethrown when there is nothing to repair.
    /// - Throws: `media.corrupt` for a still that is too damaged for a repair.
    func damaged(
        _ media: InspectedMedia, _ source: FetchedSource, _ clock: inout RequestClock,
        _ timings: inout ManifestTimings, after error: AttachPrepError
    ) async throws -> InspectedMedia {
        guard media.format == .jpeg, media.damage == nil else { throw error }
        let query = InspectRequest(format: media.format, decodesStills: true)
        let slotResult = try await dependencies.engine(for: source, of: request).withSlot(.query, clock) {
            engine, clock in
            try await engine.inspect(query, source: source.descriptor, deadline: clock.deadline)
        }
        record(slotResult, "inspect", after: clock)
        clock = slotResult.clock
        // Bounded: floating point.
        timings.inspect += slotResult.milliseconds
        let inspected = try slotResult.result.get()
        guard inspected.damage != nil else { throw error }
        return inspected
    }
}

extension AttachPrepError {
    /// The given error if it is an `AttachPrepError`; else `cancelled` or `internal`.
    init(wrapping error: any Error) {
        switch error {
        case let known as AttachPrepError: self = known
        case is CancellationError: self = .cancelled
        default: self.init(.internal, "The request failed because of an internal error.", detail: "\(error)")
        }
    }
}

extension Manifest {
    /// The manifest of a request that was rejected before any work.
    public init(rejecting request: AttachmentRequest, _ error: any Error) {
        let known = AttachPrepError(wrapping: error)
        let identity = try? RequestIdentity(request, localState: nil)
        self.init(
            id: identity?.id ?? "", requestDigest: identity?.digest ?? "", outcome: .rejected,
            source: ManifestSource(url: RedactedURL.redact(request.source)))
        reject(known)
    }

    /// Marks the manifest as rejected; information about the source is kept.
    mutating func reject(_ known: AttachPrepError) {
        outcome = .rejected
        reasons = [known.message]
        error = ManifestError(known)
    }
}

extension ManifestSource {
    /// Records the results of a fetch.
    mutating func record(_ fetched: FetchedSource) {
        finalURL = fetched.finalURL
        declaredMIMEType = fetched.declaredMIMEType
        mimeType = fetched.playlist == nil ? fetched.identified.format?.mimeType : Playlist.mimeType
        playlist = fetched.playlist?.manifest
        page = fetched.page
        bytes = fetched.bytes
        sha256 = fetched.sha256
    }
}

extension ManifestSource {
    /// Records whether iOS shows the source unchanged. A playlist is never shown, and the page of a source does not
    /// count.
    mutating func recordAttachability(of media: InspectedMedia, _ fetched: FetchedSource, isRendered: Bool) {
        attachable =
            fetched.playlist == nil
            ? Attachability.showsUnchanged(media, bytes: fetched.bytes, isRendered: isRendered) : false
    }

    /// Records that iOS does not show a fetched source whose content is no intact media.
    mutating func recordRejection(_ code: ErrorCode) {
        let isContent = [.mediaCorrupt, .mediaEmpty, .mediaUnrecognized].contains(code)
        if isContent, sha256 != nil { attachable = false }
    }
}

extension Renditions {
    /// Whether an image was made, for which the source was decoded.
    fileprivate var hasImage: Bool { thumbnail != nil || crop != nil || attachment != nil }
}

extension InspectionReport {
    /// The report on a source that was rejected before any work.
    public init(rejecting source: String, _ error: any Error) {
        self.init(
            source: ManifestSource(url: RedactedURL.redact(source)), media: nil,
            plan: PreparationPlan(rejecting: AttachPrepError(wrapping: error)))
    }
}
