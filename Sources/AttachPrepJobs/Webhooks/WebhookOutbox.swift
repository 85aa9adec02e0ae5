public import FoundationEssentials
package import RichPush

/// Stores webhooks until they are delivered or given up.
public protocol WebhookOutbox: Sendable {
    /// Claims webhooks that are due; none of them is claimed again before its lease has expired.
    ///
    /// At most `Limits.webhooksPerHostMax` webhooks of a host are claimed at a time, so that an unreachable receiver
    /// does not block the others.
    func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook]

    /// Stores the result of a delivery attempt.
    func record(_ id: WebhookID, _ result: WebhookDeliveryResult) async throws

    /// Gives up all pending webhooks to a URL whose receiver answered 410 Gone.
    ///
    /// - Returns: The number of webhooks.
    func giveUpWebhooks(to url: String, error: String) async throws -> Int

    /// Returns webhooks by creation time, latest first.
    func webhooks(_ filter: WebhookFilter, after cursor: WebhookID?, limit: Int) async throws -> WebhookPage

    /// Sends webhooks again, including delivered ones, with the same ids and the retry schedule from its start.
    ///
    /// - Returns: The number of webhooks.
    func replayWebhooks(_ filter: WebhookFilter) async throws -> Int

    func webhookCounts() async throws -> [WebhookState: Int]

    /// Returns when the next pending webhook is due; nil when there is none.
    func nextWebhookDue() async throws -> Date?
}

public enum WebhookState: String, Codable, Sendable, Hashable, CaseIterable {
    case pending
    case delivered
    /// Declined with 410 Gone, or all attempts failed.
    case givenUp
}

/// A webhook in the outbox.
public struct Webhook: Sendable, Hashable {
    public var id: WebhookID
    public var job: JobID
    public var notice: WebhookNotice
    public var state: WebhookState
    /// Number of attempts so far.
    public var attempts: Int
    public var createdAt: Date
    /// Time of the next attempt; nil when none is planned.
    public var nextAt: Date?
    /// When it was delivered or given up.
    public var endedAt: Date?
    /// HTTP status of the receiver's last response.
    public var lastStatus: Int?
    /// Why the last attempt failed, as a sentence.
    public var lastError: String?

    public init(id: WebhookID, job: JobID, notice: WebhookNotice, state: WebhookState, attempts: Int, createdAt: Date) {
        self.id = id
        self.job = job
        self.notice = notice
        self.state = state
        self.attempts = attempts
        self.createdAt = createdAt
    }
}

/// Identifier of a webhook, the same in all attempts: `msg_` and the hexadecimal digits of a UUID of version 7.
public struct WebhookID: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// Nil for any other text.
    public init?(_ text: String) {
        let digits = text.dropFirst(4)
        guard text.hasPrefix("msg_"), digits.utf8.count == 32,
            digits.utf8.allSatisfy("0123456789abcdef".utf8.contains)
        else { return nil }
        self.text = text
    }

    public static func make(at date: Date = .now) -> WebhookID {
        WebhookID(known: "msg_" + JobID.make(at: date).text.filter { $0 != "-" })
    }

    private init(known text: String) {
        self.text = text
    }

    public var description: String { text }
}

/// The result of a delivery attempt.
public enum WebhookDeliveryResult: Sendable, Hashable {
    case delivered(status: Int)
    case retry(at: Date, status: Int?, error: String)
    case givenUp(status: Int?, error: String)
}

/// Selects webhooks; a nil member does not restrict the selection.
public struct WebhookFilter: Sendable, Hashable {
    public var states: Set<WebhookState>?
    public var ids: [WebhookID]?
    public var job: JobID?

    public init(states: Set<WebhookState>? = nil, ids: [WebhookID]? = nil, job: JobID? = nil) {
        self.states = states
        self.ids = ids
        self.job = job
    }
}

/// One page of a list of webhooks.
public struct WebhookPage: Sendable {
    public var webhooks: [Webhook]
    /// Cursor of the next page; nil on the last page.
    public var next: WebhookID?

    public init(webhooks: [Webhook], next: WebhookID?) {
        self.webhooks = webhooks
        self.next = next
    }
}

extension Limits {
    /// Concurrent webhooks to one host.
    package static let webhooksPerHostMax = 8
}
