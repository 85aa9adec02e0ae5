/// A file that a page of ours is made of.
public struct PageAsset: Sendable, Hashable {
    /// As its address ends: `dashboard.js`.
    public var name: String
    /// What `Content-Type` says.
    public var mediaType: String
    public var bytes: [UInt8]

    init(_ name: String, _ mediaType: String, _ bytes: [UInt8]) {
        self.name = name
        self.mediaType = mediaType
        self.bytes = bytes
    }
}
