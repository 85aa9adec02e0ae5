/// What became of an arrival that a device reported.
public enum ArrivalStanding: Sendable, Hashable {
    /// It is counted. Seconds from sending until it was shown, by the server's clock, for what came with an attachment.
    case counted(sendToAttachSeconds: Double?)
    /// It was said before.
    case repeated
    /// As many devices as the payload was for had said so already.
    case surplus(isFirst: Bool)
    /// The payload is too old to be known.
    case expired
}
