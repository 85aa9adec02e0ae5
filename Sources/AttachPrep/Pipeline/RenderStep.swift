import Crypto
import Glibc
import MediaEngine
import RichPush

/// One render: the child writes into files that were opened for it, and what it wrote is counted and hashed.
struct RenderStep: Sendable {
    let request: RenderRequest
    let source: FetchedSource
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
            return try await blocking.run { try Self.renditions(rendered, in: open) }
        } catch {
            for output in request.outputs { try staging.remove(Self.workingName(output)) }
            throw error
        }
    }

    private func render(into outputs: [CInt]) async throws -> RenderedMedia {
        // The pool ends its child at the deadline and still answers with what was written; this is for one that hangs.
        let alarm = deadline + .seconds(Limits.engineGraceSeconds)
        return try await withDeadline(alarm, stage: "rendering") {
            try await engine.render(request, source: source.descriptor, outputs: outputs, deadline: deadline)
        }
    }

    private static func renditions(_ rendered: RenderedMedia, in outputs: [RenderOutput: CInt]) throws -> Renditions {
        var renditions = Renditions()
        renditions.attachment = try rendered.attachment.map { try file($0, bytes: $0.bytes, in: outputs[.attachment]) }
        renditions.thumbnail = try rendered.thumbnail.map { try file($0, bytes: $0.bytes, in: outputs[.thumbnail]) }
        renditions.crop = try rendered.crop.map { try file($0, bytes: $0.bytes, in: outputs[.crop]) }
        renditions.sourcePosition = rendered.sourcePosition
        renditions.attachmentPosition = rendered.attachmentPosition
        renditions.clippingRect = rendered.clippingRect
        renditions.concessions = rendered.concessions
        renditions.warnings = rendered.warnings
        renditions.isDegraded = rendered.isDegraded
        return renditions
    }

    /// The child is not believed: the bytes that are there are counted and hashed.
    private static func file<Rendered>(_ rendered: Rendered, bytes expected: Int, in descriptor: CInt?) throws
        -> Renditions.File<Rendered>
    {
        guard let descriptor else {
            throw AttachPrepError(.internal, "The media process wrote a rendition that nobody asked for.")
        }
        let (bytes, sha256) = try digest(of: descriptor)
        guard bytes == expected, bytes > 0 else {
            throw AttachPrepError(
                .internal, "A rendition is not as long as it was said to be.", detail: "\(bytes) of \(expected) bytes")
        }
        return Renditions.File(rendered: rendered, sha256: sha256)
    }

    /// A quarter of a megabyte: large enough that the calls cost nothing beside the hashing.
    private static let chunkBytes = 262_144

    private static func digest(of descriptor: CInt) throws -> (bytes: Int, sha256: String) {
        var hash = SHA256()
        var chunk = [UInt8](repeating: 0, count: chunkBytes)
        var offset = 0
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            }
            guard count >= 0 else { throw OutputFailure.error(errno) }
            guard count > 0 else { return (offset, hash.finalize().hexadecimal) }
            unsafe chunk.withUnsafeBytes { buffer in
                unsafe hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
            }
            offset += count
        }
    }
}
