import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a request does not show, kept apart from it while its job can still run.
struct JobSecrets: Codable, Sendable, Hashable {
    /// What stands in the database for secrets that were there and were wiped.
    static let wiped = ""

    var source: String
    var headers: [String: String]
    var callbackURL: String?

    /// Nil when the request shows all there is.
    init?(_ request: AttachmentRequest) {
        let shown = request.shown
        let showsAll =
            request.headers.isEmpty && shown.source == request.source
            && shown.terms.callbackURL == request.terms.callbackURL
        if showsAll { return nil }
        source = request.source
        headers = request.headers
        callbackURL = request.terms.callbackURL
    }

    func restored(to shown: AttachmentRequest) -> AttachmentRequest {
        var request = shown
        request.source = source
        request.headers = headers
        request.terms.callbackURL = callbackURL
        return request
    }

    /// Who tries a job again whose secrets are gone.
    static func wipedError(_ id: JobID) -> AttachPrepError {
        AttachPrepError(
            .requestConflict,
            "The secrets of the job \(id) were wiped when it was called off; send its request again.")
    }
}
