import Logging
import MediaEngine
import RichPush
import SafeArithmetic

/// The recipe's first half, for `inspect`: fetch, identify, inspect, plan; everything is thrown away afterwards.
struct SourceInspection: Sendable {
    let request: AttachmentRequest
    let location: SourceLocation
    let rooms: PipelineRooms
    let logger: Logger

    func run() async -> InspectionReport {
        let deadline = ContinuousClock.now + .seconds(clamping: request.budgetSeconds)
        var source = ManifestSource(url: RedactedURL.redact(request.source))
        var media: InspectedMedia?
        do {
            let staging = try StagingFolder(output: PreparerConfiguration.scratchFolder)
            defer { staging.discard() }
            let fetched = try await fetch(staging, deadline)
            source.record(fetched)
            let inspected = try await inspect(fetched, deadline)
            source.mimeType = inspected.format.mimeType
            media = inspected
            let plan = PreparationPlan(media: inspected, bytes: fetched.bytes, request: request)
            return InspectionReport(source: source, media: inspected, plan: plan)
        } catch {
            let known = AttachPrepError(wrapping: error)
            logger.debug("rejected", metadata: ["error": "\(known)"])
            return InspectionReport(source: source, media: media, plan: PreparationPlan(rejecting: known))
        }
    }

    private func fetch(_ staging: StagingFolder, _ deadline: ContinuousClock.Instant) async throws -> FetchedSource {
        let step = FetchStep(
            request: request, location: location, rooms: rooms, staging: staging, deadline: deadline)
        return try await withDeadline(deadline, stage: "fetching") { try await step.run() }
    }

    private func inspect(_ source: FetchedSource, _ deadline: ContinuousClock.Instant) async throws -> InspectedMedia {
        let question = InspectRequest(format: source.identified.format, decodesStills: true)
        return try await withDeadline(deadline, stage: "inspection") { [rooms, request] in
            try await rooms.engine(for: source, of: request).inspect(
                question, source: source.descriptor, deadline: deadline)
        }
    }
}
