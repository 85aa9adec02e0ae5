public import FoundationEssentials

/// Stores files that callers uploaded, which requests name as sources: `upload:<id>`.
public protocol UploadStore: Sendable {
    /// Creates an empty file for an upload and reserves its bytes; both are undone unless `store` is called.
    ///
    /// - Parameters:
    ///   - bytes: the declared length; 0 when it is unknown.
    ///   - caller: the name of the caller's token; nil in a service without tokens.
    /// - Throws: `output.no_space` when uploads would take more than all of them, or those of the caller, may.
    func beginUpload(bytes: Int, by caller: String?) async throws -> UploadInProgress

    /// Raises the reservation of an upload that is longer than declared so far.
    ///
    /// - Throws: As `beginUpload`.
    func reserve(_ bytes: Int, for upload: UploadInProgress) async throws

    /// Stores a finished upload durably, until it has expired and no job needs it.
    func store(_ upload: UploadInProgress, bytes: Int, sha256: String) async throws -> Upload

    func discard(_ upload: UploadInProgress) async

    /// Returns an upload; nil when there is none with this id or it has expired.
    func upload(_ id: MediaID) async throws -> Upload?

    /// Returns the local path of an upload's file, and downloads it first when this machine does not have it.
    ///
    /// - Throws: `source.not_found` when it no longer exists.
    func file(of upload: Upload) async throws -> String
}

extension UploadStore {
    /// Begins an upload of unknown length in a service without tokens.
    public func beginUpload() async throws -> UploadInProgress { try await beginUpload(bytes: 0, by: nil) }
}

/// An uploaded file.
public struct Upload: Sendable, Hashable {
    /// URL scheme of sources that name an upload.
    public static let scheme = "upload:"

    public var id: MediaID
    public var path: String
    public var bytes: Int
    public var sha256: String
    public var createdAt: Date
    /// New requests may name the upload until this time.
    public var expiresAt: Date

    public init(id: MediaID, path: String, bytes: Int, sha256: String, createdAt: Date, expiresAt: Date) {
        self.id = id
        self.path = path
        self.bytes = bytes
        self.sha256 = sha256
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    /// Returns the id of the upload that a source names; nil for other sources.
    public static func named(by source: String) -> MediaID? {
        source.hasPrefix(scheme) ? MediaID(String(source.dropFirst(scheme.count))) : nil
    }
}

/// An upload that is being written.
public struct UploadInProgress: Sendable, Hashable {
    public let id: MediaID
    /// Path of an empty file that the caller writes.
    public let path: String
    /// The name of the caller's token; nil in a service without tokens.
    public let caller: String?

    public init(id: MediaID, path: String, caller: String? = nil) {
        self.id = id
        self.path = path
        self.caller = caller
    }
}
