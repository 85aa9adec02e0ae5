public import AttachPrep
public import AttachPrepJobs
public import AttachPrepModel
import Crypto
public import FoundationEssentials
import NATS
import RichPush
import SQLiteQueue

/// Results, which all machines can use again.
///
/// Stored are the manifest, with the URLs of the published files, and the freshness of the source.
extension NATSJobQueue: ResultStore {
    public func result(for key: WorkKey) async throws -> StoredResult? {
        try await mapError { try await kept(QueueKeys.result(key))?.value.result() }
    }

    private func kept(_ key: String) async throws -> (value: PublishedResultRecord, revision: UInt64)? {
        guard let entry = try await results.entry(key), let bytes = entry.value else { return nil }
        return (try PublishedResultRecord(bytes), entry.revision)
    }

    /// - Parameter folder: must be nil: other machines could not serve files from a local folder.
    public func store(
        _ manifest: Manifest, folder: String?, for key: WorkKey, freshness: SourceFreshness?, fetchedAt: Date
    ) async throws -> StoredResult {
        precondition(folder == nil, "results of a shared queue are published")
        let result = StoredResult(media: .make(), manifest: manifest, freshness: freshness, fetchedAt: fetchedAt)
        let (new, resultKey) = (PublishedResultRecord(result), QueueKeys.result(key))
        return try await mapError {
            let pointer = KeyValueBucket.Change(QueueKeys.media(result.media), Array(resultKey.utf8))
            _ = try await results.make(pointer)
            try await updateResult(resultKey) { former in
                // The result with the later fetch wins.
                former.map { $0.fetchedAt > new.fetchedAt } ?? false ? nil : new
            }
            return result
        }
    }

    public func renew(_ media: MediaID, _ freshness: SourceFreshness, fetchedAt: Date) async throws {
        let date = fetchedAt.milliseconds
        try await mapError {
            guard let resultKey = try await results.entry(QueueKeys.media(media))?.value else { return }
            try await updateResult(String(decoding: resultKey, as: UTF8.self)) { former in
                guard var result = former, result.media == media.text else { return nil }
                result.freshness = freshness
                result.fetchedAt = max(result.fetchedAt, date)
                return result
            }
        }
    }

    /// Changes a stored result, retrying when another client changed it meanwhile.
    ///
    /// - Parameter change: returns nil to leave it unchanged.
    private func updateResult(_ resultKey: String, _ change: (PublishedResultRecord?) -> PublishedResultRecord?)
        async throws
    {
        while true {
            let entry = try await results.entry(resultKey)
            let former = try entry?.value.map { try PublishedResultRecord($0) }
            guard let next = change(former) else { return }
            let update = KeyValueBucket.Change(resultKey, try next.bytes(), after: entry?.revision ?? 0)
            if try await results.make(update) != nil { return }
        }
    }

    /// Always nil: result files are published, not stored in the queue.
    public func file(_ name: String, of media: MediaID) async throws -> StoredFile? { nil }
}

/// A result as stored on the servers, under its work key. Its files are published.
struct PublishedResultRecord: Codable, Sendable, Hashable {
    var media: String
    var manifest: Manifest
    var freshness: SourceFreshness?
    /// Milliseconds since 1970.
    var fetchedAt: Int64

    init(_ result: StoredResult) {
        media = result.media.text
        manifest = result.manifest
        freshness = result.freshness
        fetchedAt = result.fetchedAt.milliseconds
    }

    /// Decodes a stored value.
    ///
    /// - Throws: `queue.unavailable` for a value that no version of attachprep wrote.
    init(_ bytes: [UInt8]) throws {
        self = try StoredJSON.value(bytes, "a result")
    }

    func bytes() throws -> [UInt8] { try StoredJSON.bytes(self) }

    func result() throws -> StoredResult {
        guard let media = MediaID(media) else { throw StorageErrors.unreadable("a result") }
        return StoredResult(
            media: media, manifest: manifest, freshness: freshness, fetchedAt: Date(milliseconds: fetchedAt))
    }
}

extension QueueKeys {
    /// The key of the latest result of a work key.
    static func result(_ key: WorkKey) -> String { "work.\(digest(key.text))" }

    /// The key of the record that maps a result's media ID to the key of the result.
    static func media(_ media: MediaID) -> String { "media.\(media)" }
}
