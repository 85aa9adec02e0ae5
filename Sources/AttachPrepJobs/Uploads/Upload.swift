#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A file that was sent.
public struct Upload: Sendable, Hashable {
    /// The scheme of a request's source that names an upload.
    public static let scheme = "upload:"

    public var id: MediaID
    public var path: String
    public var bytes: Int
    public var sha256: String
    public var createdAt: Date
    /// Until then it may be named by a new request.
    public var expiresAt: Date

    public init(id: MediaID, path: String, bytes: Int, sha256: String, createdAt: Date, expiresAt: Date) {
        self.id = id
        self.path = path
        self.bytes = bytes
        self.sha256 = sha256
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    /// The upload that a source names; nil for any other source.
    public static func named(by source: String) -> MediaID? {
        source.hasPrefix(scheme) ? MediaID(String(source.dropFirst(scheme.count))) : nil
    }
}
