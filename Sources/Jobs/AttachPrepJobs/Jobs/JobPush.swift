import AttachPrep
import AttachPrepModel
import FoundationEssentials
import MediaTypes

/// A notification that is ready to be sent to APNs, for a request with a payload.
struct JobPush: Encodable, Sendable {
    /// With a collapse ID: a notification that is sent again replaces the earlier one on the phone.
    let headers: [String: String]
    let payload: PushTemplate
}

extension Job {
    /// The notification with the files of a manifest; nil without a payload in the request, or without public files.
    ///
    /// A payload that the files do not fit into is left out: the manifest is still of use.
    func push(with manifest: Manifest?) -> JobPush? {
        guard let template = request.jobOptions.payload, let manifest, manifest.attachment?.url != nil,
            manifest.sealed == nil || manifest.sealed?.secret != nil,
            let payload = try? template.payload(with: manifest)
        else { return nil }
        return JobPush(headers: ["apns-collapse-id": collapseID], payload: payload)
    }

    /// The caller's id, else that of the job.
    private var collapseID: String {
        guard let own = request.id, own.utf8.count <= Limits.collapseIDBytesMax else { return id.text }
        return own
    }
}

extension Limits {
    /// Bytes of an `apns-collapse-id`, as Apple documents.
    static let collapseIDBytesMax = 64
}
