/// A file of a result.
public struct StoredFile: Sendable, Hashable {
    /// Where it lies; it is never written again.
    public var path: String
    /// As the manifest has it: `attachment.jpg`.
    public var name: String
    public var mimeType: String
    public var bytes: Int
    /// Lower-case hexadecimal.
    public var sha256: String

    public init(path: String, name: String, mimeType: String, bytes: Int, sha256: String) {
        self.path = path
        self.name = name
        self.mimeType = mimeType
        self.bytes = bytes
        self.sha256 = sha256
    }
}
