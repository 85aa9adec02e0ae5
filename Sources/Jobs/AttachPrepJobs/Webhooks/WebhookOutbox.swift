public import AttachPrep
public import AttachPrepModel
public import FoundationEssentials
package import MediaTypes
import SafeArithmetic

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

    /// Sends one webhook when all jobs of a batch have ended; a second call for the same batch changes nothing.
    ///
    /// - Parameter url: with its secrets.
    func notify(_ url: String, whenDone batch: JobID) async throws

    /// Returns when the next pending webhook is due; nil when there is none.
    func nextWebhookDue() async throws -> Date?
}

public enum WebhookState: String, JSONChoice, Sendable, Hashable {
    case pending
    case delivered
    /// Declined with 410 Gone, or all attempts failed.
    case givenUp
}

/// A webhook in the outbox.
public struct Webhook: Sendable, Hashable {
    public var id: WebhookID
    public var job: JobID
    /// The id of the job's request; nil without one, and in claimed webhooks.
    public var callerID: String?
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
    /// Substring of the URL, of the ids of webhook, job and request, or of the last error; case-insensitive.
    public var search: String?

    public init(
        states: Set<WebhookState>? = nil, ids: [WebhookID]? = nil, job: JobID? = nil, search: String? = nil
    ) {
        self.states = states
        self.ids = ids
        self.job = job
        self.search = search
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

/// The content of a webhook: event type and body, which are the same in every attempt.
public struct WebhookNotice: Sendable, Hashable {
    public enum Event: String, Codable, Sendable, Hashable, CaseIterable {
        case attachmentPrepared = "attachment.prepared"
        case attachmentRejected = "attachment.rejected"
        case jobDead = "job.dead"
        case jobCancelled = "job.cancelled"
        /// All jobs of a batch have ended; `Webhook.job` is the batch then.
        case batchDone = "batch.done"
    }

    /// Destination URL, including its secrets.
    public var url: String
    public var event: Event
    /// JSON; without the secret of sealed files where a webhook is shown.
    public var body: String
    /// The body as it is shown, of a webhook with the secret of sealed files; nil for others.
    package var shownBody: String?
    /// The span that it follows from: the attempt that ended the job; nil without traces.
    public var trace: TraceHeaders?

    public init(url: String, event: Event, body: String) {
        self.url = url
        self.event = event
        self.body = body
    }

    /// Host and port of the URL, such as `hooks.example:443`; empty for an invalid URL.
    public var host: String {
        guard let address = try? WebAddress(url) else { return "" }
        return "\(address.host):\(address.port)"
    }
}

extension WebhookNotice {
    /// The webhook for the end of a job; nil when the request has no `callbackURL`.
    ///
    /// - Parameters:
    ///   - job: with its secrets, because the destination is its `callbackURL`.
    ///   - baseURL: public base URL of the media files.
    ///   - trace: nil uses that of the job's submission.
    public init?(
        for job: ClaimedJob, _ ending: JobCompletion, at baseURL: String?, date: Date = .now,
        trace: TraceHeaders? = nil
    ) {
        let manifest = Self.manifest(of: job, ending, at: baseURL)
        let body = { manifest in
            try Self.body(
                Self.event(of: ending), manifest: manifest, date: date, subject: Subject(job.job, ending.state),
                job: job.job)
        }
        guard let url = job.request.jobOptions.callbackURL, let text = try? body(manifest) else { return nil }
        self.init(url: url, event: Self.event(of: ending), body: text)
        if manifest.sealed?.secret != nil {
            guard let shown = try? body(manifest.withoutSecret) else { return nil }
            shownBody = shown
        }
        self.trace = trace ?? job.job.origin.trace
    }

    private static func event(of ending: JobCompletion) -> Event {
        switch ending {
        case .succeeded: .attachmentPrepared
        case .failed: .attachmentRejected
        case .dead: .jobDead
        case .cancelled: .jobCancelled
        }
    }

    private static func manifest(of job: ClaimedJob, _ ending: JobCompletion, at baseURL: String?) -> Manifest {
        switch ending {
        case .succeeded(let manifest, let media): manifest.located(media, at: baseURL)
        case .failed(let manifest), .dead(let manifest): manifest
        case .cancelled:
            JobManifest.rejecting(job, AttachPrepError(.cancelled, "The job was cancelled."), waited: 0)
        }
    }

    /// The body as Standard Webhooks defines it.
    private struct Body: Encodable {
        let type: Event
        let timestamp: String
        var data: Manifest
        let job: Subject
        /// Left out when it is nil.
        var push: JobPush?
    }

    /// What is left out, one after another, of a body that is over the limit of a request: a source must not be able to
    /// suppress the webhook of its job.
    private static let shortenings: [@Sendable (inout Body) -> Void] = [
        { ($0.data.warnings, $0.data.reasons) = ([], []) },
        { $0.data.source.finalURL = nil },
        { $0.push = nil },
        { $0.data.source.url = MessageText.excerpt($0.data.source.url) },
    ]

    /// The job, for receivers that store the id from the submission's response; all members are always present.
    private struct Subject: Encodable {
        let id: JobID
        let state: JobState
        let attempts: Int
        @Nullable var batch: String?
        @Nullable var idempotencyKey: String?
        let createdAt: String

        init(_ job: Job, _ state: JobState) {
            (id, self.state, attempts) = (job.id, state, job.attempts)
            batch = job.origin.batch
            idempotencyKey = job.origin.idempotencyKey
            createdAt = Timestamp.text(job.createdAt)
        }
    }

    private static func body(
        _ event: Event, manifest: Manifest, date: Date, subject: Subject, job: Job
    ) throws -> String {
        var body = Body(
            type: event, timestamp: Timestamp.text(date), data: manifest, job: subject, push: job.push(with: manifest))
        var text = try JSONEncoder.singleLine.text(body)
        for shorten in shortenings where text.utf8.count > Limits.httpRequestBodyBytesMax {
            shorten(&body)
            text = try JSONEncoder.singleLine.text(body)
        }
        return text
    }
}
