import AttachPrepModel
import Glibc
import MediaEngine
import MediaTypes

/// One render: a media process writes into files opened for it; what it wrote is counted, hashed and sealed.
struct RenderStep: Sendable {
    let request: RenderRequest
    /// Open for reading.
    let source: CInt
    /// Pipe that signals further bytes of a source that is still downloading; nil for a complete source.
    var signals: CInt?
    let engine: any MediaEngine
    let blocking: BlockingThread
    let staging: StagingFolder
    let deadline: ContinuousClock.Instant

    /// The name of an output file until it is published.
    static func workingName(_ output: RenderOutput) -> String { "\(output).new" }

    /// - Throws: `deadline.exceeded` when the media process misses the deadline; its files are removed.
    func run() async throws -> Renditions {
        var outputs: [CInt] = []
        defer { for descriptor in outputs { close(descriptor) } }
        for output in request.outputs { outputs.append(try staging.create(Self.workingName(output))) }
        do {
            let rendered = try await render(into: outputs)
            let open = Dictionary(uniqueKeysWithValues: zip(request.outputs, outputs))
            return try await blocking.run { [staging] in try Self.renditions(rendered, in: open, staging: staging) }
        } catch {
            for output in request.outputs { try staging.remove(Self.workingName(output)) }
            throw error
        }
    }

    private func render(into outputs: [CInt]) async throws -> RenderedMedia {
        // The pool kills its process at the deadline and returns what was written; this is for an engine that hangs.
        let alarm = deadline + .seconds(Limits.engineGraceSeconds)
        return try await withDeadline(alarm, stage: "rendering") {
            try await engine.render(
                request, source: source, outputs: outputs, signals: signals, deadline: deadline)
        }
    }

    /// Counts, hashes and seals the rendered files.
    static func renditions(
        _ rendered: RenderedMedia, in outputs: [RenderOutput: CInt], staging: StagingFolder
    ) throws -> Renditions {
        func file<Rendered>(_ rendered: Rendered, output: RenderOutput, bytes: Int) throws
            -> Renditions.File<Rendered>
        {
            guard let descriptor = outputs[output] else {
                throw AttachPrepError(.internal, "The media process wrote a rendition that was not requested.")
            }
            let sealed = try SealedOutput.seal(descriptor, as: workingName(output), in: staging)
            guard sealed.bytes == bytes, bytes > 0 else {
                throw AttachPrepError(
                    .internal, "The size of a rendition differs from the reported size.",
                    detail: "\(sealed.bytes) of \(bytes) bytes")
            }
            return Renditions.File(rendered: rendered, sha256: sealed.sha256)
        }
        var renditions = Renditions()
        renditions.attachment = try rendered.attachment.map { try file($0, output: .attachment, bytes: $0.bytes) }
        renditions.thumbnail = try rendered.thumbnail.map { try file($0, output: .thumbnail, bytes: $0.bytes) }
        renditions.crop = try rendered.crop.map { try file($0, output: .crop, bytes: $0.bytes) }
        for (key, image) in rendered.targets {
            renditions.targets[key] = try file(image, output: .target(key), bytes: image.bytes)
        }
        renditions.missingTargets = rendered.missingTargets
        renditions.sourcePosition = rendered.sourcePosition
        renditions.attachmentPosition = rendered.attachmentPosition
        renditions.clippingRect = rendered.clippingRect
        renditions.reductions = rendered.reductions
        renditions.warnings = rendered.warnings
        renditions.isDegraded = rendered.isDegraded
        return renditions
    }
}

/// The rendered files of a request, still under working names.
struct Renditions: Sendable {
    /// A rendition and its digest.
    struct File<Rendered: Sendable & Hashable>: Sendable, Hashable {
        let rendered: Rendered
        let sha256: String
    }

    /// What is delivered as the attachment.
    enum Delivery: Sendable, Hashable {
        /// The source, byte for byte.
        case source(AttachmentType)
        /// The attachment as it was encoded or copied.
        case written
        /// The thumbnail or the crop, because the time budget allowed no attachment.
        case image(RenderOutput)
    }

    var delivery = Delivery.written
    var attachment: File<RenderedAttachment>?
    var thumbnail: File<RenderedImage>?
    var crop: File<RenderedImage>?
    /// The pictures for other systems, by key.
    var targets: [String: File<RenderedImage>] = [:]
    /// Why pictures are missing, by key.
    var missingTargets: [String: PreparationWarning.Code] = [:]
    /// Why the sender's picture, which has a source of its own, is missing.
    var avatarError: AttachPrepError?
    /// Position of the frame shown, in the source.
    var sourcePosition: MediaPosition?
    /// Position of the frame shown, in an attachment that was written.
    var attachmentPosition: MediaPosition?
    /// The part that was cut out, in the upright image.
    var clippingRect: ClippingRect?
    var reductions: [String] = []
    var warnings: [PreparationWarning] = []
    /// Whether the time budget forced less than was requested.
    var isDegraded = false

    init() {}

    /// Renditions without files, for a source that is delivered unchanged; nil leaves the delivery at `written`.
    init(delivering type: AttachmentType?) {
        if let type { delivery = .source(type) }
    }

    /// The same renditions with the source as the attachment; nil leaves the delivery as it is.
    func delivering(_ type: AttachmentType?) -> Renditions {
        var renditions = self
        if let type { renditions.delivery = .source(type) }
        return renditions
    }

    /// Marks the result as degraded, adds the warning once, and records the consequence.
    mutating func markDegraded(_ sentence: String) {
        isDegraded = true
        reductions.append(sentence)
        if warnings.contains(where: { $0.code == .deadlineDegraded }) { return }
        warnings.append(PreparationWarning(.deadlineDegraded, "The time budget allowed less than was requested."))
    }

    /// Merges the result of a later render.
    mutating func merge(_ later: Renditions) {
        attachment = later.attachment ?? attachment
        thumbnail = later.thumbnail ?? thumbnail
        crop = later.crop ?? crop
        targets.merge(later.targets) { _, later in later }
        missingTargets.merge(later.missingTargets) { _, later in later }
        sourcePosition = sourcePosition ?? later.sourcePosition
        attachmentPosition = later.attachmentPosition ?? attachmentPosition
        clippingRect = clippingRect ?? later.clippingRect
        reductions += later.reductions
        for warning in later.warnings where !warnings.contains(where: { $0.code == warning.code }) {
            warnings.append(warning)
        }
        isDegraded = isDegraded || later.isDegraded
    }

    /// Adds the sender's picture, which has nothing else in common with the media of the request.
    mutating func add(avatar: Renditions) {
        targets.merge(avatar.targets) { own, _ in own }
        missingTargets.merge(avatar.missingTargets) { own, _ in own }
        avatarError = avatar.avatarError
    }

    /// The image that can replace a missing attachment: the crop if there is one, else the thumbnail.
    var fallback: RenderOutput? { crop != nil ? .crop : thumbnail != nil ? .thumbnail : nil }
}

extension Limits {
    /// The pool answers at most this long after a deadline: it kills and reaps the process and reports what was
    /// written.
    static let engineGraceSeconds = 0.05
}
