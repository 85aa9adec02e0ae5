internal import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Webhooks that are kept until they are delivered or given up.
public protocol WebhookOutbox: Sendable {
    /// Webhooks that are due, for one sender: none of them is given again before `lease` is over.
    ///
    /// At most `Limits.webhooksPerHostMax` to a host are out at a time: a dead receiver must not hide the others.
    func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook]

    /// Notes what came of sending one.
    func record(_ id: WebhookID, _ outcome: WebhookOutcome) async throws

    /// Gives up what is still to go to an address whose owner does not want it any more (410).
    ///
    /// - Returns: how many there were.
    func giveUpWebhooks(to url: String, error: String) async throws -> Int

    /// Webhooks by the time of their creation, the latest first.
    func webhooks(_ filter: WebhookFilter, after cursor: WebhookID?, limit: Int) async throws -> WebhookPage

    /// Has webhooks sent again, delivered ones too, with the schedule from its beginning and the same id.
    ///
    /// - Returns: how many there were.
    func replayWebhooks(_ filter: WebhookFilter) async throws -> Int

    /// How many there are in each state.
    func webhookCounts() async throws -> [WebhookState: Int]

    /// When the next pending one is due; nil when there is none.
    func nextWebhookDue() async throws -> Date?
}

/// The name of a webhook, constant over its retries: `msg_` and the digits of a UUID of version 7.
public struct WebhookID: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// Nil for what is no such name.
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

public enum WebhookState: String, Codable, Sendable, Hashable, CaseIterable {
    case pending
    case delivered
    /// Not wanted by its receiver, or not taken in all the tries of the schedule.
    case givenUp
}

/// What is told: the type, and the body that is sent, in which nothing changes over retries.
public struct WebhookNotice: Sendable, Hashable {
    public enum Event: String, Codable, Sendable, Hashable, CaseIterable {
        case attachmentPrepared = "attachment.prepared"
        case attachmentRejected = "attachment.rejected"
        case jobDead = "job.dead"
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

/// A webhook as the outbox has it.
public struct Webhook: Sendable, Hashable {
    public var id: WebhookID
    public var job: JobID
    public var notice: WebhookNotice
    public var state: WebhookState
    /// Tries so far.
    public var attempts: Int
    public var createdAt: Date
    /// When it is tried next; nil when it is not.
    public var nextAt: Date?
    /// When it was delivered or given up.
    public var endedAt: Date?
    /// What the receiver last answered.
    public var lastStatus: Int?
    /// Why the last try failed: a sentence.
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

/// What came of a try.
public enum WebhookOutcome: Sendable, Hashable {
    case delivered(status: Int)
    case retry(at: Date, status: Int?, error: String)
    case givenUp(status: Int?, error: String)
}

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

public struct WebhookPage: Sendable {
    public var webhooks: [Webhook]
    public var next: WebhookID?

    public init(webhooks: [Webhook], next: WebhookID?) {
        self.webhooks = webhooks
        self.next = next
    }
}
