/// A file that is being written.
public struct UploadInProgress: Sendable, Hashable {
    public let id: MediaID
    /// Empty; to be written by the caller.
    public let path: String

    public init(id: MediaID, path: String) {
        self.id = id
        self.path = path
    }
}
