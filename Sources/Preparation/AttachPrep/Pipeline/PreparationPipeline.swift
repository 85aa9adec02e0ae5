import AttachPrepModel
import Logging
import MediaEngine
import MediaTypes
import SafeArithmetic

/// The pipeline of one request. Each stage takes the complete value of the stage before.
struct PreparationPipeline: Sendable {
    let request: AttachmentRequest
    let identity: RequestIdentity
    let location: SourceLocation
    let dependencies: PipelineDependencies
    let output: String
    let logger: Logger
    /// The source of the sender's picture; nil when it has none of its own.
    var avatar: Result<SourceLocation, any Error>?
    /// The folder name of the result; nil for the manifest's id.
    var folder: String?
    /// Called with the manifest and the staging folder's path before the files are published.
    var onFiles: (@Sendable (Manifest, String) async -> Void)?
    /// Validators of an earlier fetch, for a conditional request; nil fetches in any case.
    var validators: SourceValidators?
    /// Whether a result that cannot be published now is kept, to be published later.
    var keepsUnpublished = false
    /// Records the stages of a traced request; nil for others.
    var spans: StageSpans?

    /// Runs the stages. Never throws: an error ends as a rejected manifest.
    func run() async -> PreparationResult {
        var record = PreparationRecord(request, identity, spans)
        do {
            let staging = try StagingFolder(
                output: output, handedOverAs: dependencies.handsFoldersOver ? folder ?? identity.id : nil)
            var isKept = false
            defer { if !isKept { staging.discard() } }
            let deadline = record.clock.deadline
            async let avatar = avatarPicture(in: staging, until: deadline)
            let fetched = try await fetch(into: staging, &record)
            let inspected = try await inspect(fetched, in: staging, record: &record)
            let planned = try plan(inspected, record: &record)
            let rendered = try await render(planned, in: staging, record: &record)
            var repaired = try await repair(rendered, in: staging, record: &record)
            if let picture = await avatar { repaired.renditions.add(avatar: picture) }
            do {
                return .ended(try await publish(repaired, from: staging, record: &record), record.freshness)
            } catch let unpublished as UnpublishedResultError {
                isKept = true
                return .unpublished(unpublished.result, unpublished.error)
            }
        } catch let unchanged as UnchangedSourceError {
            return .unchanged(unchanged.freshness)
        } catch {
            let known = AttachPrepError(wrapping: error)
            logger.debug("rejected", metadata: ["id": "\(identity.id)", "error": "\(known)"])
            return .ended(record.rejected(known), record.freshness)
        }
    }

    // MARK: Stages

    /// Stores the source in the staging folder and identifies it; work on it may begin before its last byte.
    private func fetch(
        into staging: StagingFolder, _ record: inout PreparationRecord
    ) async throws -> FetchResult {
        let deadline = record.clock.deadline
        let file = try SourceFile(in: staging)
        let early = earlyProcessing(of: file, staging, until: deadline)
        let step = FetchStep(
            request: request, location: location, dependencies: dependencies, file: file, deadline: deadline,
            validators: validators, observer: early)
        let began = ContinuousClock.now
        do {
            let source = try await withDeadline(deadline, stage: "fetching") { try await step.run() }
            record.fetched(source)
            return FetchResult(source: source, early: early)
        } catch {
            await early?.abandon()
            record.fetchFailed(error, milliseconds: began.duration(to: .now).milliseconds)
            throw error
        }
    }

    private func avatarPicture(
        in staging: StagingFolder, until deadline: ContinuousClock.Instant
    ) async -> Renditions? {
        guard let avatar else { return nil }
        let reserve = dependencies.target.reserveSeconds(ofBudget: request.budgetSeconds)
        return await AvatarStep(
            request: request, location: avatar, dependencies: dependencies, staging: staging,
            deadline: deadline - .seconds(clamping: reserve)
        ).run()
    }

    /// Nil for a file, which has no transfer to use.
    private func earlyProcessing(
        of file: SourceFile, _ staging: StagingFolder, until deadline: ContinuousClock.Instant
    ) -> EarlyProcessing? {
        guard case .remote = location else { return nil }
        return EarlyProcessing(
            request: request, source: file.readable, blocking: dependencies.blocking, staging: staging,
            deadline: deadline
        ) { [dependencies, request] in dependencies.engine(forFirstBytesOf: file.readable.descriptor, of: request) }
    }

    /// Finds out what the source is. Of a still, only the header is read, unless its thumbnail is made with the
    /// inspection: the render decodes all data anyway.
    private func inspect(
        _ fetched: FetchResult, in staging: StagingFolder, record: inout PreparationRecord
    ) async throws -> InspectedSource {
        let (source, early) = (fetched.source, fetched.early)
        let query = InspectStep.query(format: source.identified.format, bytes: source.bytes, for: request)
        let (media, thumbnail): (InspectedMedia, EarlyThumbnail?)
        if let done = await early?.inspection(for: query) {
            record.worked(.inspect, milliseconds: done.milliseconds)
            (media, thumbnail) = (done.media, done.thumbnail)
        } else {
            (media, thumbnail) = try await work(on: source, stage: .inspect, in: query.slot, record: &record) {
                engine, clock in
                try await InspectStep(
                    query: query, source: source.descriptor, engine: engine, staging: staging,
                    deadline: clock.deadline
                ).run()
            }
        }
        record.inspected(media)
        return InspectedSource(source: source, early: early, media: media, thumbnail: thumbnail)
    }

    /// Decides what is delivered.
    private func plan(_ inspected: InspectedSource, record: inout PreparationRecord) throws -> PlannedSource {
        let plan = PreparationPlan(media: inspected.media, bytes: inspected.source.bytes, request: request)
        record.foundAttachable(inspected.media, bytes: inspected.source.bytes, isRendered: false)
        if let error = plan.error { throw error }
        return PlannedSource(inspected: inspected, plan: plan)
    }

    /// Makes the files of the plan, unless that shows that a still is damaged.
    private func render(
        _ planned: PlannedSource, in staging: StagingFolder, record: inout PreparationRecord
    ) async throws -> RenderResult {
        let (inspected, plan) = (planned.inspected, planned.plan)
        do {
            var renditions = try await renditions(of: planned, in: staging, &record)
            if !inspected.media.isValidated, inspected.media.damage == nil {
                renditions.markDegraded("the file was not validated completely because the time budget ran short")
            }
            return .rendered(
                RenderedSource(source: inspected.source, media: inspected.media, plan: plan, renditions: renditions))
        } catch let error as AttachPrepError where error.code == .mediaCorrupt {
            return .damaged(inspected, error)
        }
    }

    private func renditions(
        of planned: PlannedSource, in staging: StagingFolder, _ record: inout PreparationRecord
    ) async throws -> Renditions {
        let (inspected, plan) = (planned.inspected, planned.plan)
        if let early = await inspected.early?.renditions(for: plan.conversion == nil ? plan.images : nil) {
            record.worked(.render, milliseconds: early.milliseconds)
            return early.renditions.delivering(plan.passedType)
        }
        if plan.images == nil, plan.conversion == nil { return Renditions(delivering: plan.passedType) }
        // An existing thumbnail needs no media slot.
        let isAlreadyRendered = plan.conversion == nil && inspected.thumbnail?.matches(plan.images) == true
        let sequence = sequence(
            plan, source: inspected.source, media: inspected.media, staging: staging, early: inspected.thumbnail)
        return try await work(
            on: inspected.source, stage: .render, in: isAlreadyRendered ? nil : .render, record: &record, work: sequence
        )
    }

    /// Converts the readable part of a still that proved to be damaged when it was decoded.
    private func repair(
        _ result: RenderResult, in staging: StagingFolder, record: inout PreparationRecord
    ) async throws -> RenderedSource {
        switch result {
        case .rendered(let rendered): rendered
        case .damaged(let inspected, let error):
            try await repaired(inspected, in: staging, record: &record, after: error)
        }
    }

    /// - Throws: `media.corrupt` for a still that is too damaged for a repair.
    private func repaired(
        _ inspected: InspectedSource, in staging: StagingFolder, record: inout PreparationRecord,
        after error: AttachPrepError
    ) async throws -> RenderedSource {
        let source = inspected.source
        guard inspected.media.format == .jpeg, inspected.media.damage == nil else { throw error }
        let query = InspectRequest(format: .jpeg, decodesStills: true)
        let media = try await work(on: source, stage: .inspect, in: .query, record: &record) { engine, clock in
            try await engine.inspect(query, source: source.descriptor, deadline: clock.deadline)
        }
        guard media.damage != nil || media.containerDefect == .trailerMissing else { throw error }
        record.foundDamaged()
        let plan = PreparationPlan(media: media, bytes: source.bytes, request: request)
        if let error = plan.error { throw error }
        let renditions = try await work(
            on: source, stage: .render, in: .render, record: &record,
            work: sequence(plan, source: source, media: media, staging: staging, early: nil))
        return RenderedSource(source: source, media: media, plan: plan, renditions: renditions)
    }

    /// Gives the files their names, stores them where they are served, and completes the manifest.
    private func publish(
        _ rendered: RenderedSource, from staging: StagingFolder, record: inout PreparationRecord
    ) async throws -> Manifest {
        record.rendered(rendered)
        let (target, began) = (dependencies.target, ContinuousClock.now)
        let (manifest, clock, freshness) = (record.manifest, record.clock, record.freshness)
        let step = PublishStep(rendered: rendered, request: request, target: target, staging: staging)
        let work: () async throws -> Manifest = {
            var complete = try await dependencies.blocking.run { try step.complete(manifest) }
            await onFiles?(complete, staging.path)
            let renderedAt = clock.milliseconds
            do {
                try await target.publishFiles(result(complete, staging: staging, deadline: clock.deadline))
                complete.timings.publish = began.duration(to: .now).milliseconds
                complete.timings.total = clock.milliseconds
                complete.timings.round()
                try await target.complete(result(complete, staging: staging, deadline: clock.deadline))
                return complete
            } catch let error as AttachPrepError where keepsUnpublished && UnpublishedResultError.isTemporary(error) {
                complete.timings.total = renderedAt
                throw UnpublishedResultError(
                    result: UnpublishedResult(
                        complete, freshness: freshness, in: staging, folder: folder, dependencies),
                    error: error)
            }
        }
        guard let spans else { return try await work() }
        return try await spans.during("publish", work)
    }

    private func result(
        _ manifest: Manifest, staging: StagingFolder, deadline: ContinuousClock.Instant
    ) -> FinishedResult {
        FinishedResult(manifest: manifest, staging: staging, folder: folder, deadline: deadline)
    }

    // MARK: Work

    private typealias MediaWork<Value> = @Sendable (any MediaEngine, RequestClock) async throws -> Value

    /// Works in a media slot, whose wait does not count against the budget.
    private func work<Value: Sendable>(
        on source: FetchedSource, stage: PreparationRecord.MediaStage, in kind: MediaWorkKind?,
        record: inout PreparationRecord, work: @escaping MediaWork<Value>
    ) async throws -> Value {
        let slotResult = try await dependencies.engine(for: source, of: request).withSlot(
            kind, clock: record.clock, work)
        record.worked(stage, slotResult: slotResult)
        return try slotResult.result.get()
    }

    private func sequence(
        _ plan: PreparationPlan, source: FetchedSource, media: InspectedMedia, staging: StagingFolder,
        early: EarlyThumbnail?
    ) -> MediaWork<Renditions> {
        let reserve = dependencies.target.reserveSeconds(ofBudget: request.budgetSeconds)
        return { [dependencies] engine, clock in
            try await RenderSequence(
                plan: plan, source: source, media: media, engine: engine, blocking: dependencies.blocking,
                staging: staging, deadline: clock.deadline - .seconds(clamping: reserve), early: early
            ).run()
        }
    }
}

/// A source that was fetched.
struct FetchResult: Sendable {
    let source: FetchedSource
    /// The work on it that began while it arrived; nil for a file.
    let early: EarlyProcessing?
}

/// A source whose content is known.
struct InspectedSource: Sendable {
    let source: FetchedSource
    /// The work on it that began while it arrived; nil for a file.
    let early: EarlyProcessing?
    let media: InspectedMedia
    /// The thumbnail that was made during the inspection.
    let thumbnail: EarlyThumbnail?
}

/// A source with the decision on what is delivered.
struct PlannedSource: Sendable {
    let inspected: InspectedSource
    let plan: PreparationPlan
}

/// A source with the files that were made of it.
struct RenderedSource: Sendable {
    let source: FetchedSource
    let media: InspectedMedia
    let plan: PreparationPlan
    var renditions: Renditions
}

/// The result of rendering.
enum RenderResult: Sendable {
    case rendered(RenderedSource)
    /// The data could not be decoded; the error is that of the decoder.
    case damaged(InspectedSource, AttachPrepError)
}
