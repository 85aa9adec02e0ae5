import Logging
import MediaEngine
import RichPush
import SafeArithmetic

/// One request on its way through the recipe. A value per stage, each made whole from the one before.
struct Preparation: Sendable {
    let request: AttachmentRequest
    let identity: RequestIdentity
    let location: SourceLocation
    let rooms: PipelineRooms
    let output: String
    let logger: Logger
    /// The name of the result's folder; nil takes the manifest's id.
    var folder: String?
    /// Shown the files before they are published.
    var onFiles: (@Sendable (Manifest, String) async -> Void)?
    /// What was fetched before.
    var validators: SourceValidators?

    /// The recipe: fetch and identify, inspect, plan, render, publish. Never throws: a failure is a rejected manifest.
    func run() async -> PreparationEnd {
        var clock = RequestClock(budgetSeconds: request.budgetSeconds)
        var manifest = Manifest(
            id: identity.id, requestDigest: identity.digest, outcome: .rejected,
            source: ManifestSource(url: RedactedURL.redact(request.source)))
        var freshness: SourceFreshness?
        do {
            let staging = try StagingFolder(output: output)
            defer { staging.discard() }
            let source = try await fetch(staging, clock.deadline)
            freshness = source.freshness
            manifest.source.record(source)
            manifest.timings = source.timings
            var (media, early) = try await inspect(source, staging, &clock, &manifest.timings)
            manifest.source.mimeType = media.format.mimeType
            var plan = PreparationPlan(media: media, bytes: source.bytes, request: request)
            if let error = plan.error { throw error }
            var renditions: Renditions
            do {
                renditions = try await render(plan, early, source, staging, &clock, &manifest.timings)
            } catch let error as AttachPrepError where error.code == .mediaCorrupt {
                media = try await damaged(media, source, &clock, &manifest.timings, after: error)
                plan = PreparationPlan(media: media, bytes: source.bytes, request: request)
                if let error = plan.error { throw error }
                renditions = try await render(plan, nil, source, staging, &clock, &manifest.timings)
            }
            if !media.isProved, media.damage == nil {
                renditions.degrade("not all of the file could be checked because the time was short")
            }
            manifest.timings.queue = clock.queueMilliseconds
            return .ended(try await publish(plan, media, source, renditions, staging, manifest, clock), freshness)
        } catch let unchanged as UnchangedSource {
            return .unchanged(unchanged.freshness)
        } catch {
            manifest.timings.queue = clock.queueMilliseconds
            return .ended(reject(manifest, error, clock), freshness)
        }
    }

    // MARK: Stages

    private func fetch(_ staging: StagingFolder, _ deadline: ContinuousClock.Instant) async throws -> FetchedSource {
        let step = FetchStep(
            request: request, location: location, rooms: rooms, staging: staging, deadline: deadline,
            validators: validators)
        return try await withDeadline(deadline, stage: "fetching") { try await step.run() }
    }

    private func inspect(
        _ source: FetchedSource, _ staging: StagingFolder, _ clock: inout RequestClock,
        _ timings: inout ManifestTimings
    ) async throws -> (InspectedMedia, EarlyThumbnail?) {
        let question = InspectStep.question(
            format: source.identified.format, bytes: source.bytes, for: request)
        if let early = await source.early?.inspection(for: question) {
            timings.inspect = early.milliseconds
            return (early.media, early.thumbnail)
        }
        let turn = try await rooms.engine(for: source, of: request).inTurn(.question, clock) { engine, clock in
            try await InspectStep(
                question: question, source: source.descriptor, engine: engine, staging: staging,
                deadline: clock.deadline
            ).run()
        }
        clock = turn.clock
        timings.inspect = turn.milliseconds
        return try turn.result.get()
    }

    private func render(
        _ plan: PreparationPlan, _ early: EarlyThumbnail?, _ source: FetchedSource, _ staging: StagingFolder,
        _ clock: inout RequestClock, _ timings: inout ManifestTimings
    ) async throws -> Renditions {
        if let early = await source.early?.renditions(for: plan.conversion == nil ? plan.pictures : nil) {
            timings.render = early.milliseconds
            return early.renditions.delivering(plan.passedType)
        }
        if plan.pictures == nil, plan.conversion == nil { return Renditions(delivering: plan.passedType) }
        let reserve = rooms.target.reserveSeconds(ofBudget: request.budgetSeconds)
        // What is there already needs no media slot.
        let isMade = plan.conversion == nil && early?.answers(plan.pictures) == true
        let turn = try await rooms.engine(for: source, of: request).inTurn(isMade ? nil : .render, clock) {
            [rooms] engine, clock in
            try await RenderLadder(
                plan: plan, source: source, engine: engine, blocking: rooms.blocking, staging: staging,
                deadline: clock.deadline - .seconds(clamping: reserve), early: early
            ).run()
        }
        clock = turn.clock
        timings.render = turn.milliseconds
        return try turn.result.get()
    }

    private func publish(
        _ plan: PreparationPlan, _ media: InspectedMedia, _ source: FetchedSource, _ renditions: Renditions,
        _ staging: StagingFolder, _ manifest: Manifest, _ clock: RequestClock
    ) async throws -> Manifest {
        let (target, began) = (rooms.target, ContinuousClock.now)
        let step = PublishStep(
            plan: plan, media: media, source: source, renditions: renditions, request: request, target: target,
            staging: staging)
        var complete = try await rooms.blocking.run { try step.complete(manifest) }
        await onFiles?(complete, staging.path)
        try await target.bring(result(complete, staging, clock))
        complete.timings.publish = began.duration(to: .now).milliseconds
        complete.timings.total = clock.milliseconds
        complete.timings.round()
        try await target.complete(result(complete, staging, clock))
        return complete
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
        rejected.timings.total = clock.milliseconds
        rejected.timings.round()
        return rejected
    }
}

extension ManifestTimings {
    /// Hundredths of a millisecond: more digits would be noise.
    mutating func round() {
        for field in [
            \ManifestTimings.queue, \.dns, \.connect, \.tls, \.firstByte, \.transfer, \.identify, \.inspect, \.render,
            \.publish, \.total,
        ] {
            self[keyPath: field] = (self[keyPath: field] * 100).rounded() / 100
        }
    }
}
