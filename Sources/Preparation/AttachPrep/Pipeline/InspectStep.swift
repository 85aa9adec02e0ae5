public import AttachPrepModel
import FoundationEssentials
import Glibc
import Logging
public import MediaEngine
import MediaTypes
import SafeArithmetic

/// The second step: format, validity and properties of the file, and perhaps the thumbnail as well.
struct InspectStep: Sendable {
    let query: InspectRequest
    /// Open for reading.
    let source: CInt
    /// Pipe that signals further bytes of a source that is still downloading; nil for a complete source.
    var signals: CInt?
    let engine: any MediaEngine
    let staging: StagingFolder
    let deadline: ContinuousClock.Instant

    /// The inspection that a source needs.
    static func query(format: MediaFormat?, bytes: Int, for request: AttachmentRequest) -> InspectRequest {
        let expected = ThumbnailPrediction(format: format, bytes: bytes, request: request).thumbnail
        return InspectRequest(format: format, decodesStills: false, expected: expected)
    }

    func run() async throws -> (media: InspectedMedia, early: EarlyThumbnail?) {
        try await withDeadline(deadline, stage: "inspection") {
            let files = try (query.expected?.outputs ?? []).map { _ in
                OwnedDescriptor(descriptor: try staging.createUnnamed())
            }
            let (media, early) = try await engine.inspect(
                query, source: source, outputs: files.map(\.descriptor), signals: signals, deadline: deadline)
            return (media, early.map { EarlyThumbnail($0, in: files) })
        }
    }
}

extension InspectRequest {
    /// A still is decoded only for its thumbnail, and then takes as long as a render.
    var slot: MediaWorkKind { expected != nil && format?.kind == .image ? .render : .query }
}

/// A thumbnail, with the pictures for other systems, that was made during the inspection, in unnamed files.
struct EarlyThumbnail: Sendable {
    private let render: EarlyRender
    /// In the order of the render's outputs.
    private let files: [OwnedDescriptor]

    init(_ render: EarlyRender, in files: [OwnedDescriptor]) {
        self.render = render
        self.files = files
    }

    /// Whether it is the render that the plan needs.
    func matches(_ wanted: RenderRequest?) -> Bool { wanted.map(render.matches) ?? false }

    /// Counts, hashes and seals it, like any other rendition.
    func renditions(in staging: StagingFolder, blocking: BlockingThread) async throws -> Renditions {
        try await blocking.run { [render, files] in
            let open = Dictionary(uniqueKeysWithValues: zip(render.request.outputs, files.map(\.descriptor)))
            return try RenderStep.renditions(render.media, in: open, staging: staging)
        }
    }
}

/// The first half of the pipeline, for `inspect`: fetch, identify, inspect and plan; all files are discarded.
struct SourceInspection: Sendable {
    let request: AttachmentRequest
    let location: SourceLocation
    let dependencies: PipelineDependencies
    let logger: Logger

    func run() async -> InspectionReport {
        let deadline = ContinuousClock.now + .seconds(clamping: request.budgetSeconds)
        var source = ManifestSource(url: RedactedURL.redact(request.source))
        var media: InspectedMedia?
        do {
            let staging = try StagingFolder(output: PreparerConfiguration.scratchFolder)
            defer { staging.discard() }
            let fetched = try await fetch(staging, deadline: deadline)
            source.record(fetched)
            let inspected = try await inspect(fetched, deadline: deadline)
            source.mimeType = inspected.format.mimeType
            source.attachable = Attachability.showsUnchanged(inspected, bytes: fetched.bytes, isRendered: true)
            media = inspected
            let plan = PreparationPlan(media: inspected, bytes: fetched.bytes, request: request)
            return InspectionReport(source: source, media: inspected, plan: plan)
        } catch {
            let known = AttachPrepError(wrapping: error)
            logger.debug("rejected", metadata: ["error": "\(known)"])
            source.recordRejection(known.code)
            return InspectionReport(source: source, media: media, plan: PreparationPlan(rejecting: known))
        }
    }

    private func fetch(_ staging: StagingFolder, deadline: ContinuousClock.Instant) async throws -> FetchedSource {
        let step = FetchStep(
            request: request, location: location, dependencies: dependencies, file: try SourceFile(in: staging),
            deadline: deadline)
        return try await withDeadline(deadline, stage: "fetching") { try await step.run() }
    }

    private func inspect(_ source: FetchedSource, deadline: ContinuousClock.Instant) async throws -> InspectedMedia {
        let query = InspectRequest(format: source.identified.format, decodesStills: true)
        return try await withDeadline(deadline, stage: "inspection") { [dependencies, request] in
            try await dependencies.engine(for: source, of: request).inspect(
                query, source: source.descriptor, deadline: deadline)
        }
    }
}

/// What `attachprep inspect` prints about a source.
public struct InspectionReport: Sendable, Hashable {
    public let source: ManifestSource
    /// Nil when the source could not be fetched or is not valid media.
    public let media: InspectedMedia?
    public let plan: PreparationPlan
}

extension InspectionReport {
    /// The report on a source that was rejected before any work.
    public init(rejecting source: String, _ error: any Error) {
        self.init(
            source: ManifestSource(url: RedactedURL.redact(source)), media: nil,
            plan: PreparationPlan(rejecting: AttachPrepError(wrapping: error)))
    }
}

/// `{"source", "media", "plan": {"outcome", "reasons", "steps"}}`, with every key always present.
extension InspectionReport: Encodable {
    private enum CodingKeys: String, CodingKey {
        case source, media, plan
    }

    private enum PlanKeys: String, CodingKey {
        case outcome, reasons, steps
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(source, forKey: .source)
        try values.encode(media, forKey: .media)
        var planned = values.nestedContainer(keyedBy: PlanKeys.self, forKey: .plan)
        try planned.encode(plan.outcome, forKey: .outcome)
        try planned.encode(plan.reasons, forKey: .reasons)
        try planned.encode(plan.steps, forKey: .steps)
    }

    /// One line of JSON, keys in alphabetical order.
    public func json() throws -> String {
        try JSONEncoder.singleLine.text(self)
    }
}
