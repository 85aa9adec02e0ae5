public import AttachPrep
import AttachPrepModel
public import FoundationEssentials
import RichPush

/// The content of a webhook: event type and body, which are the same in every attempt.
public struct WebhookNotice: Sendable, Hashable {
    public enum Event: String, Codable, Sendable, Hashable, CaseIterable {
        case attachmentPartial = "attachment.partial"
        case attachmentPrepared = "attachment.prepared"
        case attachmentRejected = "attachment.rejected"
        case jobDead = "job.dead"
        case jobCancelled = "job.cancelled"
    }

    /// Destination URL, including its secrets.
    public var url: String
    public var event: Event
    /// JSON.
    public var body: String
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
    /// The webhook for the partial result of a job; nil when the request has no `callbackURL`.
    ///
    /// - Parameter trace: nil uses that of the job's submission.
    init?(for job: ClaimedJob, partial: Manifest, _ media: MediaID, at baseURL: String?, trace: TraceHeaders?) {
        guard let url = job.request.jobOptions.callbackURL,
            let body = try? Self.body(
                .attachmentPartial, partial.located(media, at: baseURL), .now, Subject(job.job, .running), job.job)
        else { return nil }
        self.init(url: url, event: .attachmentPartial, body: body)
        self.trace = trace ?? job.job.origin.trace
    }

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
        guard let url = job.request.jobOptions.callbackURL,
            let body = try? Self.body(
                Self.event(of: ending), Self.manifest(of: job, ending, at: baseURL), date,
                Subject(job.job, ending.state), job.job)
        else { return nil }
        self.init(url: url, event: Self.event(of: ending), body: body)
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
        let data: Manifest
        let job: Subject
        /// Left out when it is nil.
        let push: JobPush?
    }

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
        _ event: Event, _ manifest: Manifest, _ date: Date, _ subject: Subject, _ job: Job
    ) throws -> String {
        let body = Body(
            type: event, timestamp: Timestamp.text(date), data: manifest, job: subject, push: job.push(with: manifest))
        return try JSONEncoder.singleLine.text(body)
    }
}
