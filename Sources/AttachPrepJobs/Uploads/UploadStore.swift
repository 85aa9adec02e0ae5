import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Files that callers sent, to be named as sources: `upload:<id>`.
public protocol UploadStore: Sendable {
    /// A new file to write an upload into; it is gone when it is not kept.
    func beginUpload() async throws -> UploadInProgress

    /// Keeps what was written, durably, until its time is over and no job needs it.
    func keep(_ upload: UploadInProgress, bytes: Int, sha256: String) async throws -> Upload

    /// Throws away what was written.
    func discard(_ upload: UploadInProgress) async

    /// Nil when there is none, or its time is over.
    func upload(_ id: MediaID) async throws -> Upload?
}

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
