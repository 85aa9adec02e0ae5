import AttachPrepModel
import MediaTypes

/// Media work: identify, inspect, render.
///
/// Messages are Codable values; files are passed as open descriptors, never as paths, so that the work can be done in a
/// process without file system access. Decoders are used only through this protocol.
public protocol MediaEngine: Sendable {
    /// Performs one call on open files.
    ///
    /// - Parameters:
    ///   - call: The work to do.
    ///   - descriptors: The source first (open for reading), then the outputs of `render` in the order of
    ///     `RenderRequest.outputs`, or the expected images of `inspect` (open for reading and writing, empty); last
    ///     the signal pipe of a source that is still downloading (open for reading). Borrowed: the caller closes them.
    ///   - deadline: When the work must be done.
    /// - Throws: `AttachPrepError`: a `media.` code for a problem with the file, `deadline.exceeded` past the deadline,
    ///   `media.decoder_crashed` when the media process died.
    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws -> MediaAnswer

    /// Waits for a slot and calls the body with it, so that several calls of one request wait only once.
    ///
    /// The budget of a request need not include the wait.
    ///
    /// - Throws: `cancelled` when the task is cancelled while it waits; what the body throws.
    func withSlot<Result: Sendable>(
        _ kind: MediaWorkKind, _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result

    /// Calls the body with a render slot if one is free and no other call is waiting; otherwise returns nil.
    ///
    /// - Throws: What the body throws.
    func withFreeSlot<Result: Sendable>(
        _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result?

    /// The same engine, whose calls wait for slots as work of this share.
    func sharing(_ share: MediaShare) -> any MediaEngine
}

/// Whose work a call is: slots are shared by caller, and within a caller by priority and host.
public struct MediaShare: Sendable, Hashable {
    public enum Priority: Sendable, Hashable, CaseIterable {
        case high
        case normal
        case bulk
    }

    /// The caller of a service, as the name of its token; empty for a command.
    public var caller: String
    /// The host of the source in lowercase; empty for a file.
    public var host: String
    public var priority: Priority

    public init(caller: String = "", host: String = "", priority: Priority = .normal) {
        (self.caller, self.host, self.priority) = (caller, host, priority)
    }
}

/// The kind of work for which a slot is requested.
public enum MediaWorkKind: Sendable, Hashable {
    /// Identification and inspection, which are fast.
    case query
    case render
}

extension MediaEngine {
    /// The default for an engine without slots: no wait.
    public func withSlot<Result: Sendable>(
        _ kind: MediaWorkKind, _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result {
        try await body(self)
    }

    /// The default for an engine without slots: nothing to share.
    public func sharing(_ share: MediaShare) -> any MediaEngine { self }

    /// The default for an engine without slots, which cannot tell whether other calls are waiting: nil.
    public func withFreeSlot<Result: Sendable>(
        _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result? {
        nil
    }
}

/// A call to a media engine.
public enum MediaCall: Codable, Sendable, Hashable {
    case identify(IdentifyRequest)
    case inspect(InspectRequest)
    case render(RenderRequest)
    case describe
}

extension MediaCall {
    /// Whether it draws an SVG, whose work does not depend on its bytes or pixels.
    package var isDrawing: Bool {
        switch self {
        case .inspect(let request): request.format == .svg
        case .render(let request): request.format == .svg
        default: false
        }
    }
}

/// The answer to the call of the same name.
public enum MediaAnswer: Codable, Sendable, Hashable {
    case identified(IdentifiedMedia)
    /// With the expected thumbnail, if it was made.
    case inspected(InspectedMedia, EarlyRender? = nil)
    case rendered(RenderedMedia)
    case described(EngineDescription)
}

extension MediaEngine {
    /// Identifies a file by its first bytes.
    public func identify(_ request: IdentifyRequest, source: CInt, deadline: ContinuousClock.Instant) async throws
        -> IdentifiedMedia
    {
        let answer = try await perform(.identify(request), descriptors: [source], deadline: deadline)
        guard case .identified(let media) = answer else { throw wrongAnswer("identify") }
        return media
    }

    /// Inspects geometry, timing, streams and validity with the decoders.
    public func inspect(_ request: InspectRequest, source: CInt, deadline: ContinuousClock.Instant) async throws
        -> InspectedMedia
    {
        let answer = try await perform(.inspect(request), descriptors: [source], deadline: deadline)
        guard case .inspected(let media, _) = answer else { throw wrongAnswer("inspect") }
        return media
    }

    /// Inspects a file and makes the expected thumbnail if possible.
    ///
    /// - Parameters:
    ///   - outputs: The files for the expected thumbnail and its targets; empty when none is expected.
    ///   - signals: The pipe that signals further bytes of the source; nil for a complete source.
    public func inspect(
        _ request: InspectRequest, source: CInt, outputs: [CInt], signals: CInt? = nil,
        deadline: ContinuousClock.Instant
    ) async throws -> (media: InspectedMedia, early: EarlyRender?) {
        precondition((request.downloadingBytes != nil) == (signals != nil), "an incomplete source needs signals")
        precondition((request.expected?.outputs.count ?? 0) == outputs.count, "each expected image needs a file")
        let descriptors = [source] + outputs + [signals].compactMap(\.self)
        let answer = try await perform(.inspect(request), descriptors: descriptors, deadline: deadline)
        guard case .inspected(let media, let early) = answer else { throw wrongAnswer("inspect") }
        return (media, early)
    }

    /// Writes the requested renditions.
    ///
    /// - Parameter signals: The pipe that signals further bytes of the source; nil for a complete source.
    public func render(
        _ request: RenderRequest, source: CInt, outputs: [CInt], signals: CInt? = nil,
        deadline: ContinuousClock.Instant
    ) async throws -> RenderedMedia {
        precondition(request.isDownloading == (signals != nil), "an incomplete source needs signals")
        let descriptors = [source] + outputs + [signals].compactMap(\.self)
        let answer = try await perform(.render(request), descriptors: descriptors, deadline: deadline)
        guard case .rendered(let media) = answer else { throw wrongAnswer("render") }
        return media
    }

    /// Lists libraries, versions and abilities, for `doctor`.
    public func describe(deadline: ContinuousClock.Instant) async throws -> EngineDescription {
        let answer = try await perform(.describe, descriptors: [], deadline: deadline)
        guard case .described(let description) = answer else { throw wrongAnswer("describe") }
        return description
    }

    func wrongAnswer(_ call: String) -> AttachPrepError {
        AttachPrepError(.internal, "The media process sent the wrong type of answer.", detail: "to \(call)")
    }
}

/// The libraries and abilities of an engine, for `attachprep doctor`.
public struct EngineDescription: Codable, Sendable, Hashable {
    /// A library and the version that it reports at run time.
    public struct Library: Codable, Sendable, Hashable {
        public var name: String
        public var version: String

        public init(name: String, version: String) {
            self.name = name
            self.version = version
        }
    }

    /// An ability that the engine may lack on this machine.
    public struct Ability: Codable, Sendable, Hashable {
        /// The name shown to users: `read HEIC`, `write JPEG`, `decode H.264`.
        public var name: String
        public var isAvailable: Bool
        /// The Debian package that provides it.
        public var package: String

        public init(name: String, isAvailable: Bool, package: String) {
            self.name = name
            self.isAvailable = isAvailable
            self.package = package
        }
    }

    public var libraries: [Library]
    public var abilities: [Ability]

    public init(libraries: [Library], abilities: [Ability]) {
        self.libraries = libraries
        self.abilities = abilities
    }
}
