import AttachPrep
import AttachPrepModel
import Foundation
import Glibc
import MediaEngine
import MediaTypes
import Synchronization
import TestSupport

/// An engine with scripted results, so that tests do not depend on timing.
final class FakeEngine: MediaEngine {
    /// The result of a render; the first rule that matches applies.
    struct Rule: Sendable {
        let matches: @Sendable (RenderRequest) -> Bool
        let error: AttachPrepError?
        /// Whether the deadline passed after the images were written.
        var lacksAttachment = false
    }

    private let media: InspectedMedia
    private let rules: [Rule]
    private let early: RenderRequest?
    private let requested = Mutex<[RenderRequest]>([])

    /// - Parameter early: What inspection renders when a thumbnail is expected.
    init(_ media: InspectedMedia, _ rules: [Rule] = [], early: RenderRequest? = nil) {
        self.media = media
        self.rules = rules
        self.early = early
    }

    /// The requested renders.
    var renders: [RenderRequest] { requested.withLock { $0 } }

    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws -> MediaAnswer
    {
        switch call {
        case .identify: return .identified(IdentifiedMedia(format: media.format, magicMIMEType: ""))
        case .inspect(let request):
            guard let early, request.expected != nil else { return .inspected(media) }
            let rendered = written(early, Array(descriptors.dropFirst()), nil)
            return .inspected(media, EarlyRender(request: early, media: rendered))
        case .render(let request): return .rendered(try render(request, Array(descriptors.dropFirst())))
        case .describe: return .described(EngineDescription(libraries: [], abilities: []))
        }
    }

    private func render(_ request: RenderRequest, _ outputs: [CInt]) throws -> RenderedMedia {
        requested.withLock { $0.append(request) }
        let rule = rules.first { $0.matches(request) }
        if let error = rule?.error { throw error }
        return written(request, outputs, rule)
    }

    private func written(_ request: RenderRequest, _ outputs: [CInt], _ rule: Rule?) -> RenderedMedia {
        var rendered = RenderedMedia()
        for (output, descriptor) in zip(request.outputs, outputs) {
            let text = Array("\(output)".utf8)
            _ = text.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            let image = RenderedImage(type: .jpeg, width: 30, height: 20, bytes: text.count)
            switch output {
            case .thumbnail: rendered.thumbnail = image
            case .crop: rendered.crop = image
            case .target(let key): rendered.targets[key] = image
            case .attachment where rule?.lacksAttachment == true: break
            case .attachment: rendered.attachment = attachment(request, bytes: text.count)
            }
        }
        if case .movieTime(let time) = request.frameSelection { rendered.sourcePosition = .seconds(time) }
        if case .representative = request.frameSelection { rendered.sourcePosition = .seconds(7) }
        if request.outputs == [.attachment] { rendered.attachmentPosition = rendered.sourcePosition }
        return rendered
    }

    private func attachment(_ request: RenderRequest, bytes: Int) -> RenderedAttachment {
        switch request.attachment {
        case .still, nil: RenderedAttachment(RenderedImage(type: .jpeg, width: 30, height: 20, bytes: bytes))
        case .animation: RenderedAttachment(type: .gif, bytes: bytes)
        case .movie: RenderedAttachment(type: .mpeg4, bytes: bytes)
        case .audio: RenderedAttachment(type: .mpeg4Audio, bytes: bytes)
        }
    }
}

/// Forwards every call to another engine, and records each render and inspection with its result.
final class RecordingEngine: MediaEngine {
    struct Work: Sendable {
        let isInspection: Bool
        let isDownloading: Bool
        var succeeded: Bool?
    }

    private let engine: any MediaEngine
    private let recorded = Mutex<[Work]>([])

    init(_ engine: any MediaEngine) { self.engine = engine }

    /// In the order in which they started.
    var renders: [Work] { recorded.withLock { $0.filter { !$0.isInspection } } }
    var inspections: [Work] { recorded.withLock { $0.filter(\.isInspection) } }

    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws -> MediaAnswer
    {
        try await perform(call, descriptors, deadline, by: engine)
    }

    // Explicit, since tests are compiled without NonisolatedNonsendingByDefault: a method of another type would not
    // witness the requirement, and the protocol's default would be used silently.
    nonisolated(nonsending) func withFreeSlot<Result: Sendable>(
        _ body: nonisolated(nonsending) @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result? {
        try await engine.withFreeSlot { [self] slot in try await body(Slot(record: self, engine: slot)) }
    }

    private struct Slot: MediaEngine {
        let record: RecordingEngine
        let engine: any MediaEngine

        func perform(
            _ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant
        ) async throws -> MediaAnswer {
            try await record.perform(call, descriptors, deadline, by: engine)
        }
    }

    private func perform(
        _ call: MediaCall, _ descriptors: [CInt], _ deadline: ContinuousClock.Instant, by engine: any MediaEngine
    ) async throws -> MediaAnswer {
        guard let work = Work(call) else {
            return try await engine.perform(call, descriptors: descriptors, deadline: deadline)
        }
        let number = recorded.withLock { all in
            all.append(work)
            return all.count - 1
        }
        do {
            let answer = try await engine.perform(call, descriptors: descriptors, deadline: deadline)
            recorded.withLock { $0[number].succeeded = true }
            return answer
        } catch {
            recorded.withLock { $0[number].succeeded = false }
            throw error
        }
    }
}

extension RecordingEngine.Work {
    fileprivate init?(_ call: MediaCall) {
        switch call {
        case .render(let request): self.init(isInspection: false, isDownloading: request.isDownloading)
        case .inspect(let request): self.init(isInspection: true, isDownloading: request.downloadingBytes != nil)
        case .identify, .describe: return nil
        }
    }
}

extension ScriptedMediaProcess {
    /// Runs a pool of scripted processes, and shuts it down.
    func withPool<Result>(slots: Int = 1, _ body: (MediaProcessPool) async throws -> Result) async throws -> Result {
        let pool = try MediaProcessPool(executable: path, mediaSlots: slots)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(pool)) } catch { result = .failure(error) }
        await pool.shutdown()
        return try withExtendedLifetime(folder) { try result.get() }
    }
}
