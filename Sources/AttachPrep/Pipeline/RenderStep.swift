import Crypto
import Glibc
import MediaEngine
import RichPush

/// The files of a request as they were rendered, still under working names.
struct Renditions: Sendable {
    /// A rendition and its digest.
    struct File<Rendered: Sendable & Hashable>: Sendable, Hashable {
        let rendered: Rendered
        let sha256: String
    }

    var attachment: File<RenderedAttachment>?
    var thumbnail: File<RenderedPicture>?
    var crop: File<RenderedPicture>?
    var sourcePosition: MediaPosition?
    var concessions: [String] = []
}

/// The step that has the pictures made: the child writes into files that were opened for it.
struct RenderStep: Sendable {
    let plan: PreparationPlan
    let source: FetchedSource
    let rooms: PipelineRooms
    let staging: StagingFolder
    let deadline: ContinuousClock.Instant

    /// The working name of an output.
    static func workingName(_ output: RenderOutput) -> String { "\(output).new" }

    func run() async throws -> Renditions {
        guard let render = plan.render else { return Renditions() }
        var outputs: [CInt] = []
        defer { for descriptor in outputs { close(descriptor) } }
        for output in render.outputs { outputs.append(try staging.create(Self.workingName(output))) }
        let rendered = try await rooms.engine.render(
            render, source: source.descriptor, outputs: outputs, deadline: deadline)
        let open = Dictionary(uniqueKeysWithValues: zip(render.outputs, outputs))
        return try await rooms.blocking.run { try Self.renditions(rendered, in: open) }
    }

    private static func renditions(_ rendered: RenderedMedia, in outputs: [RenderOutput: CInt]) throws -> Renditions {
        var renditions = Renditions()
        renditions.attachment = try rendered.attachment.map { try file($0, bytes: $0.bytes, in: outputs[.attachment]) }
        renditions.thumbnail = try rendered.thumbnail.map { try file($0, bytes: $0.bytes, in: outputs[.thumbnail]) }
        renditions.crop = try rendered.crop.map { try file($0, bytes: $0.bytes, in: outputs[.crop]) }
        renditions.sourcePosition = rendered.sourcePosition
        renditions.concessions = rendered.concessions
        return renditions
    }

    /// The child is not believed: the bytes that are there are counted and hashed.
    private static func file<Rendered>(_ rendered: Rendered, bytes expected: Int, in descriptor: CInt?) throws
        -> Renditions.File<Rendered>
    {
        guard let descriptor else {
            throw AttachPrepError(.internal, "The media process wrote a rendition that nobody asked for.")
        }
        var bytes = [UInt8](repeating: 0, count: expected + 1)
        var filled = 0
        while filled < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(
                    descriptor, buffer.baseAddress.map { unsafe $0 + filled }, buffer.count - filled, off_t(filled))
            }
            guard count > 0 else { break }
            filled += count
        }
        guard filled == expected, filled > 0 else {
            throw AttachPrepError(
                .internal, "A rendition is not as long as it was said to be.",
                detail: "\(filled) of \(expected) bytes")
        }
        return Renditions.File(rendered: rendered, sha256: SHA256.hash(data: bytes.prefix(filled)).hexadecimal)
    }
}
