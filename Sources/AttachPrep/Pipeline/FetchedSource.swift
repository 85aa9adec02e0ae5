import Glibc
import MediaEngine
import RichPush

/// A source on disk: what was fetched and what the server claimed.
final class FetchedSource: Sendable {
    /// The name of the file in the staging folder.
    static let fileName = "source"

    private let file: OpenFile
    let bytes: Int
    /// Lower-case hexadecimal.
    let sha256: String
    let finalURL: String?
    let declaredMIMEType: String?
    let timings: ManifestTimings
    /// What the first bytes say.
    let identified: IdentifiedMedia
    /// What the servers said of how long it holds; nil for a file.
    let freshness: SourceFreshness?
    /// What was made of it while it arrived; nil for a file.
    let early: ArrivingSource?

    init(
        file: OpenFile, bytes: Int, sha256: String, finalURL: String?, declaredMIMEType: String?,
        timings: ManifestTimings, identified: IdentifiedMedia, freshness: SourceFreshness? = nil,
        early: ArrivingSource? = nil
    ) {
        self.file = file
        self.bytes = bytes
        self.sha256 = sha256
        self.finalURL = finalURL
        self.declaredMIMEType = declaredMIMEType
        self.timings = timings
        self.identified = identified
        self.freshness = freshness
        self.early = early
    }

    /// Open for reading alone.
    var descriptor: CInt { file.descriptor }
}

/// A descriptor that is closed with this object.
final class OpenFile: Sendable {
    let descriptor: CInt

    init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}
