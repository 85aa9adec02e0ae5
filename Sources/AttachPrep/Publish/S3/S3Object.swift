/// A file on its way to its key.
struct S3Object: Sendable, Hashable {
    let key: String
    /// Open for reading.
    let descriptor: CInt
    let bytes: Int
    /// Lower-case hexadecimal.
    let sha256: String
    let mimeType: String
    /// What a browser would save it as.
    let name: String
    let cacheControl: String

    /// What the object is served with, and its digest: the endpoint's own tag is none for a file of several parts.
    var headers: [(name: String, value: String)] {
        [
            ("Content-Type", mimeType), ("Content-Disposition", "inline; filename=\"\(name)\""),
            ("Cache-Control", cacheControl), (Self.digestHeader, sha256),
        ]
    }

    static let digestHeader = "x-amz-meta-sha256"
}
