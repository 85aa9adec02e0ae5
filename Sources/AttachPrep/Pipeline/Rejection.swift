import MediaEngine
public import RichPush

extension AttachPrepError {
    /// Any error as the one the caller is told.
    init(wrapping error: any Error) {
        switch error {
        case let known as AttachPrepError: self = known
        case is CancellationError: self = .cancelled
        default: self.init(.internal, "The request failed inside attachprep.", detail: "\(error)")
        }
    }
}

extension Manifest {
    /// The manifest of a request that was refused before any work.
    public init(refusing request: AttachmentRequest, _ error: any Error) {
        let known = AttachPrepError(wrapping: error)
        let identity = try? RequestIdentity(request, localState: nil)
        self.init(
            id: identity?.id ?? "", requestDigest: identity?.digest ?? "", outcome: .rejected,
            source: ManifestSource(url: RedactedURL.redact(request.source)))
        reject(known)
    }

    /// Turns a manifest in the making into a rejected one; what is known of the source stays.
    mutating func reject(_ known: AttachPrepError) {
        outcome = .rejected
        reasons = [known.message]
        error = ManifestError(known)
    }
}

extension ManifestSource {
    /// What a fetch has found out.
    mutating func record(_ fetched: FetchedSource) {
        finalURL = fetched.finalURL
        declaredMIMEType = fetched.declaredMIMEType
        mimeType = fetched.identified.format?.mimeType
        bytes = fetched.bytes
        sha256 = fetched.sha256
    }
}

extension InspectionReport {
    /// The report on a source that was refused before any work.
    public init(refusing source: String, _ error: any Error) {
        self.init(
            source: ManifestSource(url: RedactedURL.redact(source)), media: nil,
            plan: PreparationPlan(rejecting: AttachPrepError(wrapping: error)))
    }
}
