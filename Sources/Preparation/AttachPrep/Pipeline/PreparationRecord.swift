public import AttachPrepModel
import MediaEngine
import MediaTypes
import SafeArithmetic

/// What is known about a preparation while its stages run: its clock, its manifest so far, and its spans.
struct PreparationRecord: Sendable {
    /// A stage of work in a media process.
    enum MediaStage: String, Sendable {
        case inspect, render
    }

    private(set) var manifest: Manifest
    private(set) var clock: RequestClock
    /// The freshness that the source's server declared; nil for a file, and before the fetch.
    private(set) var freshness: SourceFreshness?
    private let spans: StageSpans?

    init(_ request: AttachmentRequest, _ identity: RequestIdentity, _ spans: StageSpans?) {
        clock = RequestClock(budgetSeconds: request.budgetSeconds)
        manifest = Manifest(
            id: identity.id, requestDigest: identity.digest, outcome: .rejected,
            source: ManifestSource(url: RedactedURL.redact(request.source)))
        self.spans = spans
    }

    // MARK: Stages

    mutating func fetched(_ source: FetchedSource) {
        freshness = source.freshness
        manifest.source.record(source)
        manifest.timings = source.timings
        spans?.record(source.timings.fetchStages)
    }

    func fetchFailed(_ error: any Error, milliseconds: Double) {
        spans?.record("fetch", milliseconds: milliseconds, error: error is UnchangedSourceError ? nil : error)
    }

    mutating func inspected(_ media: InspectedMedia) {
        manifest.source.mimeType = media.format.mimeType
    }

    mutating func foundAttachable(_ media: InspectedMedia, bytes: Int, isRendered: Bool) {
        manifest.source.attachable = Attachability.showsUnchanged(media, bytes: bytes, isRendered: isRendered)
    }

    mutating func foundDamaged() {
        manifest.source.attachable = false
    }

    mutating func rendered(_ rendered: RenderedSource) {
        foundAttachable(rendered.media, bytes: rendered.source.bytes, isRendered: rendered.renditions.hasImage)
        manifest.timings.queue = clock.queueMilliseconds
    }

    // MARK: Media work

    /// Records work that was done while the source arrived.
    mutating func worked(_ stage: MediaStage, milliseconds: Double) {
        add(milliseconds, to: stage)
        spans?.record(stage.rawValue, milliseconds: milliseconds)
    }

    /// Records the wait for a slot and the work there.
    mutating func worked<Value>(_ stage: MediaStage, slotResult: SlotResult<Value>) {
        let waited = slotResult.clock.queueMilliseconds - clock.queueMilliseconds
        var error: (any Error)?
        if case .failure(let failure) = slotResult.result { error = failure }
        let queue = waited >= Self.shownWaitMilliseconds ? waited : 0
        spans?.record([("queue", queue), (stage.rawValue, slotResult.milliseconds)], error: error)
        clock = slotResult.clock
        add(slotResult.milliseconds, to: stage)
    }

    /// Shorter waits for a media slot get no span: they are the time of a lock.
    private static let shownWaitMilliseconds = 1.0

    private mutating func add(_ milliseconds: Double, to stage: MediaStage) {
        switch stage {
        case .inspect: manifest.timings.inspect += milliseconds
        case .render: manifest.timings.render += milliseconds
        }
    }

    // MARK: Rejection

    /// The manifest of the preparation, rejected with what is known about the source.
    func rejected(_ error: AttachPrepError) -> Manifest {
        var rejected = manifest
        rejected.timings.queue = clock.queueMilliseconds
        rejected.reject(error)
        rejected.source.recordRejection(error.code)
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
    fileprivate mutating func reject(_ known: AttachPrepError) {
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
        mimeType = fetched.identified.format?.mimeType
        bytes = fetched.bytes
        sha256 = fetched.sha256
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
