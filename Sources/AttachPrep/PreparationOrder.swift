public import Logging
public import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A request with what its surroundings know of it: where the result goes, and what was fetched before.
public struct PreparationOrder: Sendable {
    public var request: AttachmentRequest
    /// The name of the result's folder inside the output folder; nil takes the manifest's id.
    public var folder: String?
    /// The path of a file that stands for the request's source: an upload.
    public var localFile: String?
    /// What the source's server said of an earlier version; with it the server is asked whether there is a newer one.
    public var validators: SourceValidators?
    /// Shown the result and the path of the folder where its files are, before they go to where they are published.
    public var onFiles: (@Sendable (Manifest, String) async -> Void)?
    /// Where this request's lines go; nil takes the preparer's.
    public var logger: Logger?

    public init(_ request: AttachmentRequest) {
        self.request = request
    }
}

/// What came of an order.
public enum PreparationEnd: Sendable {
    /// Prepared or rejected; with what the server said of how long the source stays as it is.
    case ended(Manifest, SourceFreshness?)
    /// The server says that the source is still the one of the validators: nothing was prepared.
    case unchanged(SourceFreshness)
}

/// What tells one version of a source from another (RFC 9110, 8.8).
public struct SourceValidators: Codable, Sendable, Hashable {
    /// The `ETag` as the server wrote it, weak ones included.
    public var entityTag: String?
    /// The `Last-Modified` as the server wrote it.
    public var lastModified: String?
    /// SHA-256 of the address that answered, after redirects: two addresses may name different files by the same tag.
    /// Nil is taken for the source's own.
    public var address: String?

    public init(entityTag: String?, lastModified: String?) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }
}

/// How long a fetched source may be taken for the current one (RFC 9111).
public struct SourceFreshness: Codable, Sendable, Hashable {
    /// Nil when the server named none, or says `no-store`.
    public var validators: SourceValidators?
    /// Until then it need not be asked for again (`max-age`, `s-maxage` or `Expires`, less `Age`); nil: never.
    public var freshUntil: Date?

    public init(validators: SourceValidators? = nil, freshUntil: Date? = nil) {
        self.validators = validators
        self.freshUntil = freshUntil
    }
}
