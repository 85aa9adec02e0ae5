public import RichPush

/// What the last try to publish, or the last probe, found.
public struct PublishStanding: Sendable {
    public var date: ContinuousClock.Instant
    /// Nil when it went well.
    public var fault: AttachPrepError?

    public init(date: ContinuousClock.Instant, fault: AttachPrepError? = nil) {
        self.date = date
        self.fault = fault
    }
}
