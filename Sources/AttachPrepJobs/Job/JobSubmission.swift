public import AttachPrep

/// A request that is to become a job.
public struct JobSubmission: Sendable, Hashable {
    /// As the caller gave it, its secrets included: kept while the job can still run.
    public var request: AttachmentRequest
    /// Submissions of the same key want the same: they are fetched and prepared once.
    public var key: WorkKey
    /// The host it fetches from, in lower case; nil for an upload.
    public var host: String?
    /// What it comes in with.
    public var origin = JobOrigin()

    public init(request: AttachmentRequest, key: WorkKey, host: String?) {
        self.request = request
        self.key = key
        self.host = host
    }
}
