public import RichPush

/// A payload as it can be sent, and what became of its media.
public struct PayloadResult: Sendable {
    /// JSON, as it was but for the media.
    public var payload: [UInt8]
    /// One for each piece of media that was fetched, in the payload's order; the rejected ones too.
    public var manifests: [Manifest]
    public var warnings: [PayloadWarning]
    /// Whether all of the media can be delivered.
    public var isComplete: Bool
}
