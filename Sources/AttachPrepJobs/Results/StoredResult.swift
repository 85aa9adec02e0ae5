public import AttachPrep
public import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A result that is kept.
public struct StoredResult: Sendable {
    public var media: MediaID
    /// Without URLs, unless its files were published elsewhere; its id is the first job's.
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
