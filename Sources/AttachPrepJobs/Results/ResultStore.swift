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
    /// no folder, nor has one whose files were published elsewhere.
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
