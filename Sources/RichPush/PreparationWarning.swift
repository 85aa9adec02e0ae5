/// Something the caller should know about an attachment that was delivered all the same.
public struct PreparationWarning: Codable, Sendable, Hashable {
    /// A stable warning code.
    public enum Code: String, Codable, Sendable, Hashable, CaseIterable {
        case videoRotated = "video.rotated"
        case mediaCut = "media.cut"
        case mediaRepaired = "media.repaired"
        case animationLost = "animation.lost"
        case framesDropped = "frames.dropped"
        case timePastEnd = "time.past_end"
        case metadataKept = "metadata.kept"
        case deadlineDegraded = "deadline.degraded"
    }

    public let code: Code
    /// One sentence for a person.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
