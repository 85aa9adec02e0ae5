public import AttachPrep
import AttachPrepModel
public import MediaEngine
package import MediaTypes
import SafeArithmetic
public import Tracing

/// A request to be enqueued as a job.
public struct JobSubmission: Sendable, Hashable {
    /// The caller's request including its secrets, which are stored while the job can still run.
    public var request: AttachmentRequest
    /// Submissions with the same key are fetched and prepared once.
    public var key: WorkKey
    /// Source host in lowercase; nil for an upload.
    public var host: String?
    /// The caller's batch and idempotency key.
    public var origin = JobOrigin()

    public init(request: AttachmentRequest, key: WorkKey, host: String?) {
        self.request = request
        self.key = key
        self.host = host
    }

    /// The jobs that `hostLimit` counts together: those of a caller with the same host, and its uploads. A caller so
    /// cannot use the limit of another.
    package var hostGroup: String { "\(origin.caller ?? "") \(host ?? "")" }

    /// The host of a group; empty for uploads. Names of callers have no space.
    package static func host(ofGroup group: String) -> String {
        String(decoding: group.utf8.drop { $0 != UInt8(ascii: " ") }.dropFirst(), as: UTF8.self)
    }
}

/// Validates requests and turns them into submissions.
public struct SubmissionValidator: Sendable {
    private let uploads: any UploadStore
    private let sendsWebhooks: Bool
    private let httpsOnly: Bool
    private let targetProfiles: [TargetRendition]
    private let tracer: (any Tracer)?

    /// - Parameters:
    ///   - sendsWebhooks: whether a signing secret is configured; without one, requests with a callback are rejected.
    ///   - httpsOnly: whether http sources are rejected.
    ///   - targetProfiles: the operator's targets, beside those of the product.
    ///   - tracer: keeps the span of the request with its submissions.
    public init(
        uploads: any UploadStore, sendsWebhooks: Bool, httpsOnly: Bool = false,
        targetProfiles: [TargetRendition] = [], tracer: (any Tracer)? = nil
    ) {
        self.tracer = tracer
        self.targetProfiles = targetProfiles
        self.uploads = uploads
        self.sendsWebhooks = sendsWebhooks
        self.httpsOnly = httpsOnly
    }

    /// Validates a request and returns its submission.
    ///
    /// - Parameter caller: the name of the caller's token; nil in a service without tokens.
    /// - Throws: `request.invalid`, `options.…`, `source.invalid_url`, `source.scheme_not_allowed`, or
    ///   `source.not_found` for an upload that does not exist.
    public func submission(for request: AttachmentRequest, by caller: String? = nil) async throws -> JobSubmission {
        var submission = try await validated(request)
        submission.origin.caller = caller
        submission.origin.trace = .current(tracer)
        return submission
    }

    /// Validates the URL of the webhook of a batch.
    ///
    /// - Throws: `request.invalid`.
    package func check(batchCallbackURL url: String) throws {
        try JobOptions.check(callbackURL: url)
        try requireSecret()
    }

    private func requireSecret() throws {
        guard !sendsWebhooks else { return }
        throw AttachPrepError(
            .requestInvalid,
            "This service has no secret to sign webhooks; set ATTACHPREP_WEBHOOK_SECRETS, or omit callbackURL.")
    }

    private func validated(_ request: AttachmentRequest) async throws -> JobSubmission {
        try request.validate()
        try request.targets.check(profiles: targetProfiles)
        if request.jobOptions.callbackURL != nil { try requireSecret() }
        if request.source.hasPrefix(Upload.scheme) { return try await uploaded(request) }
        let address = try WebAddress(request.source, httpsOnly: httpsOnly)
        return JobSubmission(request: request, key: try WorkKey(request, file: nil), host: address.host.lowercased())
    }

    private func uploaded(_ request: AttachmentRequest) async throws -> JobSubmission {
        guard let id = Upload.named(by: request.source), let upload = try await uploads.upload(id) else {
            throw AttachPrepError(
                .sourceNotFound,
                "The upload does not exist or has expired; send the file again (POST /v1/uploads).")
        }
        return JobSubmission(request: request, key: try WorkKey(request, file: upload.sha256), host: nil)
    }
}

extension WorkKey {
    /// - Parameter file: SHA-256 of the upload that is the source; nil for a URL.
    init(_ request: AttachmentRequest, file: String?) throws {
        var work = request
        // Uploads of the same bytes are the same source.
        if let file { work.source = "\(Upload.scheme)\(file)" }
        let identity = try RequestIdentity(work, localState: file)
        // Sealed results are not shared: a key of its own for each job.
        let own = request.seal ? "-\(MediaID.make())" : ""
        self.init("\(identity.digest)-\(Int(clamping: request.budgetSeconds * 1000))\(own)")
    }
}

/// Identifies requests for the same work: source, options, policy, budget and headers, without id and job options.
public struct WorkKey: Sendable, Hashable {
    /// Lowercase hexadecimal.
    public let text: String

    public init(_ text: String) {
        self.text = text
    }
}

/// A caller's `Idempotency-Key`: the same key and body within 24 hours return the same jobs.
public struct IdempotencyKey: Sendable, Hashable {
    /// The caller that sent the key; two callers may use the same key.
    public var caller: String
    public var key: String
    /// SHA-256 of the body in lowercase hexadecimal.
    public var bodyDigest: String

    public init(caller: String, key: String, bodyDigest: String) {
        self.caller = caller
        self.key = key
        self.bodyDigest = bodyDigest
    }
}

/// The result of `JobQueue.enqueue`.
public struct EnqueuedJobs: Sendable {
    public var jobs: [Job]
    /// Whether the jobs were created by an earlier call with the same idempotency key.
    public var areRepeated: Bool

    public init(jobs: [Job], areRepeated: Bool) {
        self.jobs = jobs
        self.areRepeated = areRepeated
    }
}

extension Limits {
    /// An idempotency key is valid for a day, as documented.
    package static let idempotencySecondsMax = 24.0 * 3600
}
