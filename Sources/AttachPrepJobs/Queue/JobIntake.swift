public import AttachPrep
import RichPush
import SafeArithmetic

/// What becomes a job, and what is refused at the door.
public struct JobIntake: Sendable {
    private let uploads: any UploadStore
    private let sendsWebhooks: Bool
    private let httpsOnly: Bool

    /// - Parameters:
    ///   - sendsWebhooks: whether a secret is there to sign them; without it a callback is refused.
    ///   - httpsOnly: whether http sources are refused.
    public init(uploads: any UploadStore, sendsWebhooks: Bool, httpsOnly: Bool = false) {
        self.uploads = uploads
        self.sendsWebhooks = sendsWebhooks
        self.httpsOnly = httpsOnly
    }

    /// The submission that a request makes.
    ///
    /// - Throws: what is wrong with the request: `request.invalid`, `options.…`, `source.invalid_url`,
    ///   `source.scheme_not_allowed`, `source.not_found` for an upload that is not there.
    public func submission(for request: AttachmentRequest) async throws -> JobSubmission {
        try request.validate()
        if request.terms.callbackURL != nil, !sendsWebhooks {
            throw AttachPrepError(
                .requestInvalid,
                "This service has no secret to sign webhooks with (ATTACHPREP_WEBHOOK_SECRETS); leave callbackURL out."
            )
        }
        if request.source.hasPrefix(Upload.scheme) { return try await uploaded(request) }
        let address = try WebAddress(request.source, httpsOnly: httpsOnly)
        return JobSubmission(request: request, key: try WorkKey(request, file: nil), host: address.host.lowercased())
    }

    private func uploaded(_ request: AttachmentRequest) async throws -> JobSubmission {
        guard let id = Upload.named(by: request.source), let upload = try await uploads.upload(id) else {
            throw AttachPrepError(
                .sourceNotFound, "There is no upload of that name, or its time is over; send the file again.")
        }
        return JobSubmission(request: request, key: try WorkKey(request, file: upload.sha256), host: nil)
    }
}

extension WorkKey {
    /// - Parameter file: the digest of the upload that is the source; nil for a URL.
    init(_ request: AttachmentRequest, file: String?) throws {
        var work = request
        // The same bytes are the same source, however often they were sent.
        if let file { work.source = "\(Upload.scheme)\(file)" }
        let identity = try RequestIdentity(work, localState: file)
        self.init("\(identity.digest)-\(Int(clamping: request.budgetSeconds * 1000))")
    }
}
