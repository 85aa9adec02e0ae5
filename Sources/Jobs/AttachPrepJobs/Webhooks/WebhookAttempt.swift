import AttachPrep
import AttachPrepModel
import FoundationEssentials
package import MediaTypes
import SafeArithmetic

/// The HTTP request of one delivery attempt.
struct WebhookRequest: Sendable {
    let webhook: Webhook
    let secrets: [WebhookSecret]
    let date: Date
    /// The span of the attempt; nil without traces.
    var trace: TraceHeaders?

    var call: HTTPClientRequest {
        let body = Array(webhook.notice.body.utf8)
        return HTTPClientRequest(
            .post, webhook.notice.url, headers: headers(body), body: body,
            responseBytesMax: Limits.webhookResponseBytesMax, deadline: .now + .seconds(Limits.webhookSecondsMax))
    }

    private func headers(_ body: [UInt8]) -> [(name: String, value: String)] {
        let timestamp = Int(clamping: date.timeIntervalSince1970.rounded(.down))
        let signature = WebhookSignature(id: webhook.id.text, timestamp: timestamp, body: body, secrets: secrets)
        return [
            ("content-type", "application/json"), ("user-agent", Self.userAgent), ("webhook-id", webhook.id.text),
            ("webhook-timestamp", String(timestamp)), ("webhook-signature", signature.text),
        ] + (trace?.fields ?? [])
    }

    private static let userAgent = "attachprep/\(ProductVersion.text) (webhooks)"
}

/// The value of the `webhook-signature` header.
///
/// <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>
public struct WebhookSignature: Sendable, Hashable, CustomStringConvertible {
    /// One signature per secret, separated by spaces; a receiver accepts the webhook when one of them matches.
    public let text: String

    /// - Parameters:
    ///   - id: id of the webhook.
    ///   - timestamp: Unix time of this attempt in seconds.
    ///   - body: the request body, byte for byte.
    public init(id: String, timestamp: Int, body: [UInt8], secrets: [WebhookSecret]) {
        let content = Array("\(id).\(timestamp).".utf8) + body
        text = secrets.map { "v1,\($0.sign(content))" }.joined(separator: " ")
    }

    public var description: String { text }
}

/// The response to a delivery attempt, or its error.
enum WebhookResponse: Sendable {
    case answered(host: String, status: Int, retryAfter: Duration?)
    case failed(AttachPrepError)

    var status: Int? {
        if case .answered(_, let status, _) = self { status } else { nil }
    }

    var retryAfter: Duration? {
        if case .answered(_, _, let retryAfter) = self { retryAfter } else { nil }
    }

    /// Whether the receiver accepted the webhook (2xx).
    var isDelivered: Bool { status.map { 200...299 ~= $0 } ?? false }

    /// Whether the receiver wants no more webhooks (410 Gone, Standard Webhooks).
    var isUnwanted: Bool { status == 410 }

    /// Why delivery failed: a sentence with the host only, because the URL may contain secrets.
    var sentence: String {
        switch self {
        case .failed(let error): error.message
        case .answered(let host, 410, _): "\(host) answered 410 (Gone); no more webhooks are sent to this URL."
        case .answered(let host, let status, _) where 300...399 ~= status:
            "\(host) answered \(status); redirects are not followed: set callbackURL to the final URL."
        case .answered(let host, let status, _): "\(host) answered \(status)."
        }
    }
}

/// The retry schedule of webhooks.
package struct WebhookSchedule: Sendable, Hashable {
    /// Seconds between an attempt and the one before; the first element is not used, because the first attempt is
    /// immediate.
    package var stepsSeconds = Limits.webhookScheduleSeconds

    /// Delays are extended by a random part of up to 10 %, so that attempts that failed together are not repeated
    /// together.
    private static let jitter = 0.1

    package init() {}

    /// Decides whether a webhook is delivered, retried or given up.
    ///
    /// - Parameters:
    ///   - tries: number of attempts, including this one.
    ///   - chance: a random number in 0..<1.
    func outcome(of reply: WebhookResponse, tries: Int, at now: Date, chance: Double) -> WebhookDeliveryResult {
        if reply.isDelivered, let status = reply.status { return .delivered(status: status) }
        guard !reply.isUnwanted, let delay = delay(afterTries: tries, retryAfter: reply.retryAfter, chance: chance)
        else { return .givenUp(status: reply.status, error: reply.sentence) }
        return .retry(at: now.addingTimeInterval(delay), status: reply.status, error: reply.sentence)
    }

    /// Returns the seconds until the next attempt; nil after the last one.
    ///
    /// The receiver's `Retry-After` can extend the delay up to the next step of the schedule.
    package func delay(afterTries tries: Int, retryAfter: Duration?, chance: Double) -> Double? {
        guard stepsSeconds.indices.contains(tries) else { return nil }
        let own = stepsSeconds[tries] * (1 + Self.jitter * chance)
        let longest = stepsSeconds[min(tries + 1, stepsSeconds.count - 1)]
        let requested = retryAfter.map { $0 / .seconds(1) } ?? 0
        return max(own, min(requested, longest))
    }
}

extension Limits {
    /// The example schedule of Standard Webhooks: seconds after the previous attempt.
    package static let webhookScheduleSeconds: [Double] = [
        0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]
    /// Time for a receiver to respond (Standard Webhooks: 15 to 30 s).
    static let webhookSecondsMax = 20.0
    /// Bytes read of a receiver's response; only its status matters.
    static let webhookResponseBytesMax = 1_000
}
