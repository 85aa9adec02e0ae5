/// What a webhook is signed with: the text of the header `webhook-signature`.
///
/// <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>
public struct WebhookSignature: Sendable, Hashable, CustomStringConvertible {
    /// One signature for each secret, with spaces between them: a receiver looks for one that it can make itself.
    public let text: String

    /// - Parameters:
    ///   - id: of the webhook.
    ///   - timestamp: Unix seconds of this try.
    ///   - body: as it is sent, byte for byte.
    public init(id: String, timestamp: Int, body: [UInt8], secrets: [WebhookSecret]) {
        let content = Array("\(id).\(timestamp).".utf8) + body
        text = secrets.map { "v1,\($0.sign(content))" }.joined(separator: " ")
    }

    public var description: String { text }
}
