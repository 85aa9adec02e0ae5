public import AttachPrep
public import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A job as everybody may see it: nothing in it is secret.
///
/// Its JSON is the contract's (DESIGN 4.4): these nine keys, always all of them.
public struct Job: Sendable, Hashable {
    public var id: JobID
    public var state: JobState
    /// Without headers, with its addresses redacted.
    public var request: AttachmentRequest
    /// The manifest of a finished job, a rejected one too.
    public var result: Manifest?
    /// Why it failed, or why its last attempt did.
    public var error: ManifestError?
    /// How many times work on it began.
    public var attempts: Int
    public var createdAt: Date
    /// When work on it began last.
    public var startedAt: Date?
    public var finishedAt: Date?
    /// Where its files are served; not in the JSON.
    public var media: MediaID?
    /// What it came in with; not in the JSON.
    public var origin = JobOrigin()

    public init(id: JobID, state: JobState, request: AttachmentRequest, attempts: Int = 0, createdAt: Date) {
        self.id = id
        self.state = state
        self.request = request
        self.attempts = attempts
        self.createdAt = createdAt
    }

    /// The same job whose files have addresses below that one: `https://media.example/push` makes
    /// `https://media.example/push/media/<media>/<file>`. Without one they have none.
    public func located(at baseURL: String?) -> Job {
        var job = self
        job.result = result?.located(media, at: baseURL)
        return job
    }
}

extension Job: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, state, request, result, error, attempts, createdAt, startedAt, finishedAt
    }

    /// As a service's answer is read; where its files lie is in its manifest.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try values.decode(JobID.self, forKey: .id), state: try values.decode(JobState.self, forKey: .state),
            request: try values.decode(AttachmentRequest.self, forKey: .request),
            attempts: try values.decode(Int.self, forKey: .attempts),
            createdAt: try Self.time(.createdAt, in: values) ?? .distantPast)
        result = try values.decodeIfPresent(Manifest.self, forKey: .result)
        error = try values.decodeIfPresent(ManifestError.self, forKey: .error)
        startedAt = try Self.time(.startedAt, in: values)
        finishedAt = try Self.time(.finishedAt, in: values)
    }

    private static func time(_ key: CodingKeys, in values: KeyedDecodingContainer<CodingKeys>) throws -> Date? {
        try values.decodeIfPresent(String.self, forKey: key).flatMap(Timestamp.date)
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
        try values.encode(startedAt.map(Timestamp.text), forKey: .startedAt)
        try values.encode(finishedAt.map(Timestamp.text), forKey: .finishedAt)
    }
}

extension AttachmentRequest {
    /// As it may be shown: without headers, and with addresses redacted.
    public var shown: AttachmentRequest {
        var request = self
        request.source = RedactedURL.redact(source)
        request.headers = [:]
        request.terms.callbackURL = terms.callbackURL.map(RedactedURL.redact)
        return request
    }
}
