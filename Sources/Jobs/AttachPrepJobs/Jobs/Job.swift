public import AttachPrep
public import AttachPrepModel
public import FoundationEssentials
import MediaTypes

/// A job as it may be shown: it contains no secrets.
///
/// Its JSON is part of the contract: always all keys of `CodingKeys` but `push`, which is left out without a value.
public struct Job: Sendable, Hashable {
    public var id: JobID
    public var state: JobState
    /// Without headers, and with redacted URLs.
    public var request: AttachmentRequest
    /// The manifest of a finished job, including a rejected one.
    public var result: Manifest?
    /// Why the job, or its last attempt, failed.
    public var error: ManifestError?
    /// Number of attempts that have started.
    public var attempts: Int
    public var createdAt: Date
    /// From when a queued job may start: its `notBefore`, the end of a snooze, or the next attempt; nil for other jobs.
    public var dueAt: Date?
    /// Start of the last attempt.
    public var startedAt: Date?
    public var finishedAt: Date?
    /// The worker of the last attempt; nil before the first one, and in jobs that an earlier version ended.
    public var worker: String?
    /// Identifier under which its files are served; not in the JSON.
    public var media: MediaID?
    /// The submission that it belongs to; its batch and idempotency key are in the JSON.
    public var origin = JobOrigin()

    public init(id: JobID, state: JobState, request: AttachmentRequest, attempts: Int = 0, createdAt: Date) {
        self.id = id
        self.state = state
        self.request = request
        self.attempts = attempts
        self.createdAt = createdAt
    }

    /// Returns the job with file URLs below `baseURL`: `https://media.example/push` becomes
    /// `https://media.example/push/media/<media>/attachment-1160ab42.jpg`. Without `baseURL` the files have no URLs.
    public func located(at baseURL: String?) -> Job {
        var job = self
        job.result = result?.located(media, at: baseURL)
        return job
    }
}

extension Job: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, state, request, result, error, attempts, createdAt, dueAt, startedAt, finishedAt, worker
        case batch, idempotencyKey, push
    }

    /// Decodes a response of the service; file URLs are in its manifest.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try values.decode(JobID.self, forKey: .id), state: try values.decode(JobState.self, forKey: .state),
            request: try values.decode(AttachmentRequest.self, forKey: .request),
            attempts: try values.decode(Int.self, forKey: .attempts),
            createdAt: try values.time(forKey: .createdAt) ?? .distantPast)
        result = try values.decodeIfPresent(Manifest.self, forKey: .result)
        error = try values.decodeIfPresent(ManifestError.self, forKey: .error)
        dueAt = try values.time(forKey: .dueAt)
        startedAt = try values.time(forKey: .startedAt)
        finishedAt = try values.time(forKey: .finishedAt)
        worker = try values.decodeIfPresent(String.self, forKey: .worker)
        origin.batch = try values.decodeIfPresent(String.self, forKey: .batch)
        origin.idempotencyKey = try values.decodeIfPresent(String.self, forKey: .idempotencyKey)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(state, forKey: .state)
        try values.encode(request, forKey: .request)
        try values.encode(result, forKey: .result)
        try values.encode(error, forKey: .error)
        try values.encode(attempts, forKey: .attempts)
        try values.encode(Timestamp.text(createdAt), forKey: .createdAt)
        try values.encode(dueAt.map(Timestamp.text), forKey: .dueAt)
        try values.encode(startedAt.map(Timestamp.text), forKey: .startedAt)
        try values.encode(finishedAt.map(Timestamp.text), forKey: .finishedAt)
        try values.encode(worker, forKey: .worker)
        try values.encode(origin.batch, forKey: .batch)
        try values.encode(origin.idempotencyKey, forKey: .idempotencyKey)
        try values.encodeIfPresent(push(with: result), forKey: .push)
    }
}

extension KeyedDecodingContainer {
    /// An RFC 3339 time; nil when it is missing, null or malformed.
    func time(forKey key: Key) throws -> Date? {
        try decodeIfPresent(String.self, forKey: key).flatMap(Timestamp.date)
    }
}

extension AttachmentRequest {
    /// The request without headers, and with redacted URLs.
    public var shown: AttachmentRequest {
        var request = self
        request.source = RedactedURL.redact(source)
        request.headers = [:]
        request.jobOptions.callbackURL = jobOptions.callbackURL.map(RedactedURL.redact)
        return request
    }
}

public enum JobState: String, JSONChoice, Sendable, Hashable {
    /// Waiting for a worker, for `notBefore`, or for the next attempt.
    case queued
    /// A worker holds a lease on it.
    case running
    /// Ended with an attachment.
    case succeeded
    /// Ended with a permanent error.
    case failed
    /// Ended because all retries were used up.
    case dead
    /// Cancelled by its caller.
    case cancelled

    /// Whether the job has ended; only a retry starts it again.
    public var isFinished: Bool { self != .queued && self != .running }

    /// Whether the job can be retried.
    public var isRetryable: Bool { self == .failed || self == .dead || self == .cancelled }
}

/// The submission that a job belongs to, with the caller's identifiers.
public struct JobOrigin: Codable, Sendable, Hashable {
    /// Name of the batch; nil for a single request.
    public var batch: String?
    /// The submission's `Idempotency-Key`.
    public var idempotencyKey: String?
    /// The name of the token that submitted it; nil in a service without tokens.
    public var caller: String?
    /// The span of the request that submitted it; nil without traces, and in jobs of older versions.
    public var trace: TraceHeaders?

    public init(batch: String? = nil, idempotencyKey: String? = nil) {
        self.batch = batch
        self.idempotencyKey = idempotencyKey
    }

    /// JSON for the database or the queue; nil when all members are nil.
    package func stored() throws -> String? {
        self == JobOrigin() ? nil : try StoredJSON.text(self)
    }

    /// - Throws: `queue.unavailable` when the text cannot be decoded.
    package init(stored text: String?) throws {
        self = try text.map { try StoredJSON.value($0, "a job's origin") } ?? JobOrigin()
    }
}
