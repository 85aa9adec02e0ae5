public import RichPush

/// Asks what a file is, perhaps while it is still arriving.
public struct IdentifyRequest: Codable, Sendable, Hashable {
    /// How many of the file's bytes are there; only these are read.
    public let availableBytes: Int
    /// Whether that is the whole file.
    public let isComplete: Bool

    public init(availableBytes: Int, isComplete: Bool) {
        self.availableBytes = availableBytes
        self.isComplete = isComplete
    }
}

/// What a file is by its first bytes.
///
/// That a file is not media is an error (`media.unrecognized`, `media.unsupported`, `media.empty`), not an answer.
public struct IdentifiedMedia: Codable, Sendable, Hashable {
    /// The format; nil when the bytes so far could still be anything, and the decoders decide.
    public let format: MediaFormat?
    /// libmagic's own word, for the log.
    public let magicMIMEType: String

    public init(format: MediaFormat?, magicMIMEType: String) {
        self.format = format
        self.magicMIMEType = magicMIMEType
    }
}
