import MediaEngine
import RichPush
import Synchronization

/// Asks the engine what a source is, again and again while it arrives, until it knows.
final class SourceIdentification: Sendable {
    private let engine: any MediaEngine
    private let descriptor: CInt
    private let deadline: ContinuousClock.Instant
    private let state = Mutex((media: IdentifiedMedia?.none, milliseconds: 0.0))

    init(engine: any MediaEngine, descriptor: CInt, deadline: ContinuousClock.Instant) {
        self.engine = engine
        self.descriptor = descriptor
        self.deadline = deadline
    }

    /// The answer so far.
    var media: IdentifiedMedia? { state.withLock { $0.media } }
    /// Time spent asking.
    var milliseconds: Double { state.withLock { $0.milliseconds } }

    /// Looks at the bytes that are there; nil when they could still be anything.
    ///
    /// - Throws: `media.empty`, `media.unrecognized`, `media.unsupported`.
    func look(availableBytes: Int, isComplete: Bool) async throws -> MediaFormat? {
        let start = ContinuousClock.now
        let request = IdentifyRequest(availableBytes: availableBytes, isComplete: isComplete)
        let media = try await engine.identify(request, source: descriptor, deadline: deadline)
        state.withLock { state in
            state.media = media
            state.milliseconds += start.duration(to: .now).milliseconds
        }
        return media.format
    }

    /// The last word, over the whole file unless an earlier look was enough.
    func conclude(bytes: Int) async throws -> IdentifiedMedia {
        if let media, media.format != nil { return media }
        _ = try await look(availableBytes: bytes, isComplete: true)
        return media ?? IdentifiedMedia(format: nil, magicMIMEType: "")
    }
}
