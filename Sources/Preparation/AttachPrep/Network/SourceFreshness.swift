public import FoundationEssentials

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
