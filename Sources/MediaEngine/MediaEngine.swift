import RichPush

/// The contract of media work: identify, inspect, render.
///
/// Messages are Codable values; files travel beside them as open descriptors, never as paths, so that the work can be
/// done in a process that has no file system. No decoder is reachable by another way.
public protocol MediaEngine: Sendable {
    /// Does one piece of media work on open files.
    ///
    /// - Parameters:
    ///   - call: What to do.
    ///   - descriptors: The source first (open for reading), then the outputs of `render` in the order of
    ///     `RenderRequest.outputs`, or the expected thumbnail of `inspect` (open for reading and writing, empty); last
    ///     the words of a source that still arrives (open for reading).
    ///     Borrowed: the caller closes them.
    ///   - deadline: When the answer is no longer wanted.
    /// - Throws: `AttachPrepError`, with a `media.` code for what is wrong with the file, `deadline.exceeded` past the
    ///   deadline, `media.decoder_crashed` when the process that worked on it died.
    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws -> MediaAnswer

    /// Waits until there is a place to work, and works there: several calls of one request without a wait between.
    ///
    /// Waiting in line is no work, so a budget need not run meanwhile.
    ///
    /// - Throws: `cancelled` when the task is cancelled while it waits, and what the body throws.
    func inTurn<Result: Sendable>(
        _ turn: MediaTurn, _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result

    /// Renders in a place that nobody else waits for; nil where there is none now.
    ///
    /// - Throws: what the body throws.
    func inTurnIfFree<Result: Sendable>(
        _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result?
}

/// What a place is wanted for.
public enum MediaTurn: Sendable, Hashable {
    /// Identification and inspection, which are quick.
    case question
    /// Renders.
    case render
}

extension MediaEngine {
    /// An engine without a line has a place at once.
    public func inTurn<Result: Sendable>(
        _ turn: MediaTurn, _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result {
        try await body(self)
    }

    /// An engine without a line cannot tell whether somebody waits.
    public func inTurnIfFree<Result: Sendable>(
        _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result? {
        nil
    }
}

/// A call of the contract.
public enum MediaCall: Codable, Sendable, Hashable {
    case identify(IdentifyRequest)
    case inspect(InspectRequest)
    case render(RenderRequest)
    case describe
}

/// The answer to the call of the same name.
public enum MediaAnswer: Codable, Sendable, Hashable {
    case identified(IdentifiedMedia)
    /// With the thumbnail that was expected, where it came along.
    case inspected(InspectedMedia, EarlyRender? = nil)
    case rendered(RenderedMedia)
    case described(EngineDescription)
}

extension MediaEngine {
    /// What the content of a file is, from its first bytes.
    public func identify(_ request: IdentifyRequest, source: CInt, deadline: ContinuousClock.Instant) async throws
        -> IdentifiedMedia
    {
        let answer = try await perform(.identify(request), descriptors: [source], deadline: deadline)
        guard case .identified(let media) = answer else { throw wrongAnswer("identify") }
        return media
    }

    /// Geometry, timing, streams and validity, from the decoders' own word.
    public func inspect(_ request: InspectRequest, source: CInt, deadline: ContinuousClock.Instant) async throws
        -> InspectedMedia
    {
        let answer = try await perform(.inspect(request), descriptors: [source], deadline: deadline)
        guard case .inspected(let media, _) = answer else { throw wrongAnswer("inspect") }
        return media
    }

    /// The same, with the expected thumbnail where it came along.
    ///
    /// - Parameters:
    ///   - thumbnail: For the expected thumbnail; nil where none is expected.
    ///   - arrivals: Where it is said that there is more of the source; nil for one that is whole.
    public func inspect(
        _ request: InspectRequest, source: CInt, thumbnail: CInt?, arrivals: CInt? = nil,
        deadline: ContinuousClock.Instant
    ) async throws -> (media: InspectedMedia, early: EarlyRender?) {
        precondition((request.arrivingBytes != nil) == (arrivals != nil), "who waits is told")
        precondition((request.expected != nil) == (thumbnail != nil), "what is expected has a place")
        let descriptors = [source] + [thumbnail, arrivals].compactMap(\.self)
        let answer = try await perform(.inspect(request), descriptors: descriptors, deadline: deadline)
        guard case .inspected(let media, let early) = answer else { throw wrongAnswer("inspect") }
        return (media, early)
    }

    /// Writes the renditions that were asked for.
    ///
    /// - Parameter arrivals: Where it is said that there is more of the source; nil for one that is whole.
    public func render(
        _ request: RenderRequest, source: CInt, outputs: [CInt], arrivals: CInt? = nil,
        deadline: ContinuousClock.Instant
    ) async throws -> RenderedMedia {
        precondition(request.isArriving == (arrivals != nil), "who waits is told")
        // Bounded: lists.
        let descriptors = [source] + outputs + [arrivals].compactMap(\.self)
        let answer = try await perform(.render(request), descriptors: descriptors, deadline: deadline)
        guard case .rendered(let media) = answer else { throw wrongAnswer("render") }
        return media
    }

    /// Libraries, versions and formats: for `doctor`.
    public func describe(deadline: ContinuousClock.Instant) async throws -> EngineDescription {
        let answer = try await perform(.describe, descriptors: [], deadline: deadline)
        guard case .described(let description) = answer else { throw wrongAnswer("describe") }
        return description
    }

    private func wrongAnswer(_ call: String) -> AttachPrepError {
        AttachPrepError(.internal, "The media process gave a wrong answer.", detail: "to \(call)")
    }
}
