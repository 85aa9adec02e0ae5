/// Where the files of a result are stored below a publish target.
public enum ResultLayout: String, Sendable, Hashable, CaseIterable {
    /// By content: `_content/<digest>.jpg`. A URL never gets other content, and equal files are stored once.
    case content
    /// In the folder of the result: `<id>/attachment.jpg`. A new version of the source replaces the files.
    case id
}
