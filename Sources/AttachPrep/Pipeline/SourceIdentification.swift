import MediaEngine
import RichPush
import Synchronization

/// Asks the engine what a source is, again and again while it arrives, until it knows.
final class SourceIdentification: Sendable {
    private let rooms: PipelineRooms
    /// As it may be shown.
    private let source: String
    private let descriptor: CInt
    private let deadline: ContinuousClock.Instant
    private let state = Mutex((media: IdentifiedMedia?.none, isComplete: false, milliseconds: 0.0))

    init(source: String, rooms: PipelineRooms, descriptor: CInt, deadline: ContinuousClock.Instant) {
        self.rooms = rooms
        self.source = RedactedURL.redact(source)
        self.descriptor = descriptor
        self.deadline = deadline
    }

    /// The answer so far.
    var media: IdentifiedMedia? { state.withLock { $0.media } }
    /// Time spent asking.
    var milliseconds: Double { state.withLock { $0.milliseconds } }

    /// Looks at the bytes that are there; nil when they could still be anything.
    ///
    /// - Throws: `media.empty`, `media.unrecognized`, `media.unsupported`, `media.quarantined`.
    func look(availableBytes: Int, isComplete: Bool) async throws -> MediaFormat? {
        // What was found before was of fewer bytes, or of a body that is gone.
        state.withLock { ($0.media, $0.isComplete) = (nil, false) }
        // Content in quarantine begins so: nobody looks before it is known whether this is it.
        if isSuspect(availableBytes: availableBytes, isComplete: isComplete) { return nil }
        return try await ask(availableBytes: availableBytes, isComplete: isComplete, sha256: nil)
    }

    /// Whether content that is in quarantine begins as this does.
    func isSuspect(availableBytes: Int, isComplete: Bool) -> Bool {
        let length = FirstBytes.length(available: availableBytes, isComplete: isComplete)
        guard let digest = FirstBytes.digest(of: descriptor, length: length) else { return false }
        return rooms.quarantine.isSuspect(prefix: digest)
    }

    /// The last word, over the whole file unless an earlier look was enough.
    ///
    /// - Parameter sha256: of the content, where it is known already.
    func conclude(bytes: Int, sha256: String?) async throws -> IdentifiedMedia {
        let known = state.withLock { $0.isComplete || $0.media?.format != nil ? $0.media : nil }
        if let known { return known }
        _ = try await ask(availableBytes: bytes, isComplete: true, sha256: sha256)
        return media ?? IdentifiedMedia(format: nil, magicMIMEType: "")
    }

    private func ask(availableBytes: Int, isComplete: Bool, sha256: String?) async throws -> MediaFormat? {
        let start = ContinuousClock.now
        let length = FirstBytes.length(available: availableBytes, isComplete: isComplete)
        let request = IdentifyRequest(availableBytes: isComplete ? availableBytes : length, isComplete: isComplete)
        let engine = engine(length: length, sha256: sha256)
        let media = try await engine.identify(request, source: descriptor, deadline: deadline)
        state.withLock { state in
            state.media = media
            state.isComplete = isComplete
            // Bounded: a floating-point number.
            state.milliseconds += start.duration(to: .now).milliseconds
        }
        return media.format
    }

    /// What ends its process is known by its content where that is there, else by what was looked at.
    private func engine(length: Int, sha256: String?) -> any MediaEngine {
        if let sha256 {
            return rooms.engine(for: sha256, .content, source: source) { [descriptor] in
                FirstBytes.digests(of: descriptor)
            }
        }
        guard let digest = FirstBytes.digest(of: descriptor, length: length) else { return rooms.engine }
        return rooms.engine(for: digest, .firstBytes, source: source)
    }
}
