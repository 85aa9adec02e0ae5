public import AttachPrep
public import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What came of work, kept by what was asked for, and its files by their content.
///
/// A file is stored under its SHA-256: the same bytes are there once, and storing them again changes nothing. A result
/// is kept while a job, an undelivered webhook or its freshness needs it, then until retention takes it.
public protocol ResultStore: Sendable {
    /// The latest result for a key; nil when there is none, or its files are gone.
    func result(for key: WorkKey) async throws -> StoredResult?

    /// Keeps a result: takes the manifest's files out of the folder, which is gone afterwards. A rejected manifest has
    /// no folder.
    ///
    /// - Throws: `output.no_space`, `output.not_writable`, `queue.unavailable`.
    func store(_ manifest: Manifest, folder: String?, for key: WorkKey, freshness: SourceFreshness?, fetchedAt: Date)
        async throws -> StoredResult

    /// Notes that the source was asked for again and is still the same.
    func renew(_ media: MediaID, _ freshness: SourceFreshness, fetchedAt: Date) async throws

    /// A file to serve; nil when there is none of that name.
    func file(_ name: String, of media: MediaID) async throws -> StoredFile?

    /// Decimal bytes of all files of results and uploads.
    func mediaBytes() async throws -> Int
}

extension ResultStore {
    /// For drivers that do not count.
    public func mediaBytes() async throws -> Int { 0 }
}

/// A result that is kept.
public struct StoredResult: Sendable {
    public var media: MediaID
    /// Without URLs; its id is the first job's.
    public var manifest: Manifest
    public var freshness: SourceFreshness?
    /// When the fetch began that brought it, or that last found it unchanged.
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

extension Manifest {
    /// The same manifest whose files have addresses below that one; without it, or without media, they have none.
    public func located(_ media: MediaID?, at baseURL: String?) -> Manifest {
        var manifest = self
        let url = { (file: String) -> String? in
            guard let media, let baseURL else { return nil }
            let base = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
            return "\(base)/media/\(media)/\(file)"
        }
        if let attachment { manifest.attachment?.url = url(attachment.file) }
        if let thumbnail { manifest.thumbnail?.url = url(thumbnail.file) }
        if let crop { manifest.crop?.url = url(crop.file) }
        return manifest
    }
}
