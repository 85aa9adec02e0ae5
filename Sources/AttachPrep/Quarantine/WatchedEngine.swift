import MediaEngine
import RichPush

/// An engine that works on one content: refused while that is in quarantine, and blamed when its process ends.
struct WatchedEngine: MediaEngine {
    let engine: any MediaEngine
    let quarantine: Quarantine
    let digest: String
    /// The entry to begin with; asked for only when a process ended.
    let subject: @Sendable () -> QuarantineEntry
    /// Redacted, for the entry.
    let source: String

    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws -> MediaAnswer
    {
        try quarantine.check(digest)
        do {
            return try await engine.perform(call, descriptors: descriptors, deadline: deadline)
        } catch let error as AttachPrepError where error.code == .mediaDecoderCrashed {
            throw quarantine.record(error, subject(), source: source)
        }
    }

    func inTurn<Result: Sendable>(
        _ turn: MediaTurn, _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result {
        try await engine.inTurn(turn) { [self] place in
            try await body(
                WatchedEngine(
                    engine: place, quarantine: quarantine, digest: digest, subject: subject, source: source))
        }
    }

    func inTurnIfFree<Result: Sendable>(
        _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result? {
        try await engine.inTurnIfFree { [self] place in
            try await body(
                WatchedEngine(
                    engine: place, quarantine: quarantine, digest: digest, subject: subject, source: source))
        }
    }
}
