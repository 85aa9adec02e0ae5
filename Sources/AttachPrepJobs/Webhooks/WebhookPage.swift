public struct WebhookPage: Sendable {
    public var webhooks: [Webhook]
    public var next: WebhookID?

    public init(webhooks: [Webhook], next: WebhookID?) {
        self.webhooks = webhooks
        self.next = next
    }
}
