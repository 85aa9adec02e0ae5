public import AttachPrep

/// A request that is to become a job.
public struct JobSubmission: Sendable, Hashable {
    /// As the caller gave it, its secrets included: kept while the job can still run.
    public var request: AttachmentRequest
    /// Submissions of the same key want the same: they are fetched and prepared once.
    public var key: WorkKey
    /// The host it fetches from, in lower case; nil for an upload.
    public var host: String?

    public init(request: AttachmentRequest, key: WorkKey, host: String?) {
        self.request = request
        self.key = key
        self.host = host
    }
}

/// What makes two requests the same work: source, options, policy, budget and headers, but neither id nor terms.
public struct WorkKey: Sendable, Hashable {
    /// Lower-case hexadecimal.
    public let text: String

    public init(_ text: String) {
        self.text = text
    }
}

/// A caller's word for a submission: the same word and body within a day give the same jobs.
public struct IdempotencyKey: Sendable, Hashable {
    /// Whose word it is: two callers may use the same one.
    public var caller: String
    public var key: String
    /// SHA-256 of the body, lower-case hexadecimal.
    public var bodyDigest: String

    public init(caller: String, key: String, bodyDigest: String) {
        self.caller = caller
        self.key = key
        self.bodyDigest = bodyDigest
    }
}
