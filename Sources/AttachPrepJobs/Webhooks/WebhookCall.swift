internal import AttachPrep
internal import RichPush
internal import SafeArithmetic

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One try of one webhook: what is sent.
struct WebhookCall: Sendable {
    let webhook: Webhook
    let secrets: [WebhookSecret]
    let date: Date

    var call: WebCall {
        let body = Array(webhook.notice.body.utf8)
        return WebCall(
            .post, webhook.notice.url, headers: headers(body), body: body,
            answerBytesMax: Limits.webhookAnswerBytesMax, deadline: .now + .seconds(Limits.webhookSecondsMax))
    }

    private func headers(_ body: [UInt8]) -> [(name: String, value: String)] {
        let timestamp = Int(clamping: date.timeIntervalSince1970.rounded(.down))
        let signature = WebhookSignature(id: webhook.id.text, timestamp: timestamp, body: body, secrets: secrets)
        return [
            ("content-type", "application/json"), ("user-agent", Self.userAgent), ("webhook-id", webhook.id.text),
            ("webhook-timestamp", String(timestamp)), ("webhook-signature", signature.text),
        ]
    }

    private static let userAgent = "attachprep/\(ProductVersion.text) (webhooks)"
}
