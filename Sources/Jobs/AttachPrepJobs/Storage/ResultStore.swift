public import AttachPrep
public import AttachPrepModel
public import FoundationEssentials
import MediaTypes

/// Stores results by work key, and their files by content.
///
/// A file is stored under its SHA-256, so identical files exist once. A result is kept while a job, an undelivered
/// webhook or its freshness needs it, then until its retention ends.
public protocol ResultStore: Sendable {
    /// Returns the latest result for a key; nil when there is none or its files are missing.
    func result(for key: WorkKey) async throws -> StoredResult?

    /// Stores a result: moves the manifest's files out of `folder`, which is then removed. `folder` is nil for a
    /// rejected manifest and for files that were published elsewhere.
    ///
    /// - Throws: `output.no_space`, `output.not_writable`, `queue.unavailable`.
    func store(_ manifest: Manifest, folder: String?, for key: WorkKey, freshness: SourceFreshness?, fetchedAt: Date)
        async throws -> StoredResult

    /// Records that the source was revalidated and is unchanged.
    func renew(_ media: MediaID, _ freshness: SourceFreshness, fetchedAt: Date) async throws

    /// Returns a file to serve; nil when the result has no file of that name.
    func file(_ name: String, of media: MediaID) async throws -> StoredFile?

    /// Returns the total size of all result and upload files in bytes.
    func mediaBytes() async throws -> Int
}

/// A result in the store.
public struct StoredResult: Sendable {
    public var media: MediaID
    /// Without URLs, unless the files were published elsewhere; the id is that of the first job.
    public var manifest: Manifest
    public var freshness: SourceFreshness?
    /// Start of the fetch that produced the result, or that last found it unchanged.
    public var fetchedAt: Date

    public init(media: MediaID, manifest: Manifest, freshness: SourceFreshness?, fetchedAt: Date) {
        self.media = media
        self.manifest = manifest
        self.freshness = freshness
        self.fetchedAt = fetchedAt
    }
}

/// A file of a result.
public struct StoredFile: Sendable, Hashable {
    /// Path of the file, which never changes once stored.
    public var path: String
    /// Name in the manifest, such as `attachment.jpg`.
    public var name: String
    public var mimeType: String
    public var bytes: Int
    /// SHA-256 in lowercase hexadecimal.
    public var sha256: String

    public init(path: String, name: String, mimeType: String, bytes: Int, sha256: String) {
        self.path = path
        self.name = name
        self.mimeType = mimeType
        self.bytes = bytes
        self.sha256 = sha256
    }
}

/// Identifier in the URLs of a result's files: 128 random bits, because the URL is the only access control.
public struct MediaID: Sendable, Hashable, CustomStringConvertible {
    /// 32 digits of lowercase hexadecimal.
    public let text: String

    /// Nil for any other text.
    public init?(_ text: String) {
        let digits = "0123456789abcdef".utf8
        guard text.utf8.count == 32, text.utf8.allSatisfy(digits.contains) else { return nil }
        self.text = text
    }

    public static func make() -> MediaID {
        var generator = SystemRandomNumberGenerator()
        let halves: [UInt64] = [generator.next(), generator.next()]
        return MediaID(known: halves.flatMap(\.bigEndianBytes).hexadecimal)
    }

    private init(known text: String) {
        self.text = text
    }

    public var description: String { text }
}

extension Manifest {
    /// Returns the manifest with file URLs below `baseURL`, which end in the suggested names of the files. Without
    /// `baseURL` or without media, files have no URLs. Files that were published elsewhere keep theirs.
    public func located(_ media: MediaID?, at baseURL: String?) -> Manifest {
        if attachment?.url != nil { return self }
        return withURLs { file in
            guard let media, let baseURL else { return nil }
            let base = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
            return "\(base)/media/\(media)/\(file.suggestedName)"
        }
    }
}
