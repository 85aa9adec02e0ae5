public import AttachPrepModel
public import FoundationEssentials
public import Logging
public import MediaEngine
import RichPush

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
    /// Called with the manifest and the path of the folder with its files, before they are published.
    public var onFiles: (@Sendable (Manifest, String) async -> Void)?
    /// The logger of this request; nil uses the preparer's.
    public var logger: Logger?

    public init(_ request: AttachmentRequest) {
        self.request = request
    }
}

/// The result of a preparation task.
public enum PreparationResult: Sendable {
    /// Prepared or rejected, with the freshness that the source's server declared.
    case ended(Manifest, SourceFreshness?)
    /// The server confirmed that the source has not changed; nothing was prepared.
    case unchanged(SourceFreshness)
}

/// The values that identify a version of a source (RFC 9110, 8.8).
public struct SourceValidators: Codable, Sendable, Hashable {
    /// The `ETag` as the server wrote it, strong or weak.
    public var entityTag: String?
    /// The `Last-Modified` as the server wrote it.
    public var lastModified: String?
    /// SHA-256 of the URL that responded, after redirects: two URLs may use the same tag for different files. Nil means
    /// the URL of the source.
    public var address: String?

    public init(entityTag: String?, lastModified: String?) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }
}

/// How long a fetched source may be used without asking the server again (RFC 9111).
public struct SourceFreshness: Codable, Sendable, Hashable {
    /// Nil when the server sent none, or `no-store`.
    public var validators: SourceValidators?
    /// Fresh until then (`s-maxage`, `max-age` or `Expires`, less `Age`); nil when it must be revalidated each time.
    public var freshUntil: Date?

    public init(validators: SourceValidators? = nil, freshUntil: Date? = nil) {
        self.validators = validators
        self.freshUntil = freshUntil
    }
}
