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

    /// Where the file of an upload lies on this machine: brought there when it is not.
    ///
    /// - Throws: `source.not_found` when it is gone.
    func file(of upload: Upload) async throws -> String
}

extension UploadStore {
    /// For drivers of one machine.
    public func file(of upload: Upload) async throws -> String { upload.path }
}
