import AttachPrep

/// What is told: the type, and the body that is sent, in which nothing changes over retries.
public struct WebhookNotice: Sendable, Hashable {
    public enum Event: String, Codable, Sendable, Hashable, CaseIterable {
        case attachmentPrepared = "attachment.prepared"
        case attachmentRejected = "attachment.rejected"
        case jobDead = "job.dead"
        case jobCancelled = "job.cancelled"
    }

    /// With its secrets: what is sent goes there.
    public var url: String
    public var event: Event
    /// JSON.
    public var body: String

    public init(url: String, event: Event, body: String) {
        self.url = url
        self.event = event
        self.body = body
    }

    /// The host and port it goes to, such as `hooks.example:443`; empty for an address that cannot be read.
    public var host: String {
        guard let address = try? WebAddress(url) else { return "" }
        return "\(address.host):\(address.port)"
    }
}
