public import AttachPrepModel
import FoundationEssentials
public import Logging
public import MediaEngine
import MediaTypes

/// A request with its context: where the result goes, and which version of the source was fetched before.
public struct PreparationTask: Sendable {
    public var request: AttachmentRequest
    /// The name of the result's folder inside the output folder; nil uses the manifest's id.
    public var folder: String?
    /// The path of an uploaded file that is used instead of the request's source.
    public var localFile: String?
    /// Whose work it is, for its share of the media slots.
    public var share = MediaShare()
    /// Validators of the version fetched before; the server is then asked whether there is a newer one.
    public var validators: SourceValidators?
    /// Whether a result that cannot be published now is returned as `unpublished`, and not as an error.
    public var keepsUnpublished = false
    /// Called with the manifest and the path of the folder with its files, before they are published.
    public var onFiles: (@Sendable (Manifest, String) async -> Void)?
    /// The logger of this request; nil uses the preparer's.
    public var logger: Logger?

    public init(_ request: AttachmentRequest) {
        self.request = request
    }
}
