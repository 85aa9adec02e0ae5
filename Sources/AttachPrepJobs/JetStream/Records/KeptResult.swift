import AttachPrep
import Crypto
import NATS
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What came of work, as the servers keep it: under the key of the work, since its files are where they were published
/// to.
struct KeptResult: Codable, Sendable, Hashable {
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

    /// - Throws: `queue.unavailable` for a value that none of our versions wrote.
    init(_ bytes: [UInt8]) throws {
        do {
            self = try JSONDecoder().decode(KeptResult.self, from: Data(bytes))
        } catch {
            throw StoreFault.unreadable("a result", error)
        }
    }

    func bytes() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }

    func result() throws -> StoredResult {
        guard let media = MediaID(media) else { throw StoreFault.unreadable("a result") }
        return StoredResult(
            media: media, manifest: manifest, freshness: freshness, fetchedAt: Date(milliseconds: fetchedAt))
    }
}

extension QueueKeys {
    /// What came last of work.
    static func result(_ key: WorkKey) -> String { "work.\(digest(key.text))" }

    /// The work that a result came of: its key in the bucket.
    static func media(_ media: MediaID) -> String { "media.\(media)" }
}
