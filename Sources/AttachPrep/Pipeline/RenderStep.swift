import Glibc
import MediaEngine
import RichPush

/// One render: the child writes into files that were opened for it, and what it wrote is counted, hashed and sealed.
struct RenderStep: Sendable {
    let request: RenderRequest
    /// Open for reading.
    let source: CInt
    /// Where a render waits for what is still to come of the source; nil when it is whole.
    var arrivals: CInt?
    let engine: any MediaEngine
    let blocking: BlockingLane
    let staging: StagingFolder
    let deadline: ContinuousClock.Instant

    /// The working name of an output.
    static func workingName(_ output: RenderOutput) -> String { "\(output).new" }

    /// - Throws: `deadline.exceeded` when the child is not back by the deadline; its files are gone then.
    func run() async throws -> Renditions {
        var outputs: [CInt] = []
        defer { for descriptor in outputs { close(descriptor) } }
        for output in request.outputs { outputs.append(try staging.create(Self.workingName(output))) }
        do {
            let rendered = try await render(into: outputs)
            let open = Dictionary(uniqueKeysWithValues: zip(request.outputs, outputs))
            return try await blocking.run { [staging] in try Self.renditions(rendered, in: open, staging) }
        } catch {
            for output in request.outputs { try staging.remove(Self.workingName(output)) }
            throw error
        }
    }

    private func render(into outputs: [CInt]) async throws -> RenderedMedia {
        // The pool ends its child at the deadline and still answers with what was written; this is for one that hangs.
        let alarm = deadline + .seconds(Limits.engineGraceSeconds)
        return try await withDeadline(alarm, stage: "rendering") {
            try await engine.render(
                request, source: source, outputs: outputs, arrivals: arrivals, deadline: deadline)
        }
    }

    /// What was written, counted, hashed and sealed.
    static func renditions(
        _ rendered: RenderedMedia, in outputs: [RenderOutput: CInt], _ staging: StagingFolder
    ) throws -> Renditions {
        func file<Rendered>(_ rendered: Rendered, _ output: RenderOutput, bytes: Int) throws
            -> Renditions.File<Rendered>
        {
            guard let descriptor = outputs[output] else {
                throw AttachPrepError(.internal, "The media process wrote a rendition that nobody asked for.")
            }
            let sealed = try SealedOutput.seal(descriptor, as: workingName(output), in: staging)
            guard sealed.bytes == bytes, bytes > 0 else {
                throw AttachPrepError(
                    .internal, "A rendition is not as long as it was said to be.",
                    detail: "\(sealed.bytes) of \(bytes) bytes")
            }
            return Renditions.File(rendered: rendered, sha256: sealed.sha256)
        }
        var renditions = Renditions()
        renditions.attachment = try rendered.attachment.map { try file($0, .attachment, bytes: $0.bytes) }
        renditions.thumbnail = try rendered.thumbnail.map { try file($0, .thumbnail, bytes: $0.bytes) }
        renditions.crop = try rendered.crop.map { try file($0, .crop, bytes: $0.bytes) }
        renditions.sourcePosition = rendered.sourcePosition
        renditions.attachmentPosition = rendered.attachmentPosition
        renditions.clippingRect = rendered.clippingRect
        renditions.concessions = rendered.concessions
        renditions.warnings = rendered.warnings
        renditions.isDegraded = rendered.isDegraded
        return renditions
    }
}
