public import AttachPrepJobs
public import FoundationEssentials
import Glibc
import MediaTypes

/// Where the bytes of uploads are: in the data folder, or in a bucket for all machines.
public protocol UploadBytes: Sendable {
    /// The path of the upload's file on this machine, whether it exists or not.
    func path(_ id: MediaID) -> String

    /// Creates an empty file that the caller writes.
    ///
    /// - Returns: Its path.
    func begin(_ id: MediaID) async throws -> String

    /// Stores a written file durably.
    ///
    /// - Throws: `output.not_writable`, `output.no_space`, `publish.*`.
    func store(_ id: MediaID, from path: String, bytes: Int, sha256: String) async throws

    func discard(_ path: String) async

    /// Returns the path of the upload's file, and fetches it first when this machine does not have it.
    ///
    /// - Throws: `source.not_found` when it no longer exists.
    func fetch(_ upload: Upload) async throws -> String

    /// Removes uploads that have no row any more.
    func remove(_ ids: [String]) async throws -> [RemovedFile]

    /// Removes copies of this machine that were not used for long.
    func sweepCopies(at date: Date) async throws -> [RemovedFile]

    /// Ends connections; called with the store.
    func close() async
}

/// For stores whose process has no uploads: measurements, fuzzers and tests.
package struct NoUploads: UploadBytes {
    package init() {}

    package func path(_ id: MediaID) -> String { "/nowhere/\(id)" }
    package func begin(_ id: MediaID) -> String { path(id) }
    package func store(_ id: MediaID, from path: String, bytes: Int, sha256: String) {}
    package func discard(_ path: String) {}
    package func fetch(_ upload: Upload) -> String { upload.path }
    package func remove(_ ids: [String]) -> [RemovedFile] { [] }
    package func sweepCopies(at date: Date) -> [RemovedFile] { [] }
}

extension UploadBytes {
    public func close() {}
}

/// The file of an upload that is being written.
enum UploadDraft {
    /// Name prefix of uploads in progress.
    static let hiddenPrefix = "."

    /// Creates an empty file for this user only; blocking.
    ///
    /// - Throws: `output.not_writable`, `output.no_space`.
    static func make(_ path: String) throws {
        let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StorageErrors.fileError(errno) }
        Glibc.close(descriptor)
    }
}

/// Uploads in the data folder.
public struct LocalUploads: UploadBytes {
    private let files: ContentFiles

    public init(_ files: ContentFiles) {
        self.files = files
    }

    public func path(_ id: MediaID) -> String { "\(files.folder.uploads)/\(id)" }

    public func begin(_ id: MediaID) async throws -> String {
        let path = "\(files.folder.uploads)/\(UploadDraft.hiddenPrefix)\(id)"
        try await files.run { try UploadDraft.make(path) }
        return path
    }

    public func store(_ id: MediaID, from path: String, bytes: Int, sha256: String) async throws {
        let final = self.path(id)
        try await files.sync([path])
        try await files.run {
            guard ContentFiles.size(path) == bytes, unsafe rename(path, final) == 0 else {
                throw StorageErrors.fileError(errno)
            }
        }
        try await files.sync([files.folder.uploads])
    }

    public func discard(_ path: String) async {
        try? await files.run { _ = unsafe unlink(path) }
    }

    public func fetch(_ upload: Upload) -> String { path(upload.id) }

    public func remove(_ ids: [String]) async throws -> [RemovedFile] {
        let folder = files.folder.uploads
        return try await files.remove(ids, at: { "\(folder)/\($0)" }, needed: { _ in [] })
    }

    public func sweepCopies(at date: Date) -> [RemovedFile] { [] }

    /// Removes uploads that were in progress when an earlier process ended; called before new ones start.
    public func sweepInProgress() async throws {
        let folder = files.folder.uploads
        try await files.run {
            for name in ContentFiles.names(folder) where name.utf8.starts(with: UploadDraft.hiddenPrefix.utf8) {
                unsafe unlink("\(folder)/\(name)")
            }
        }
    }
}

extension SQLJobStore: UploadStore {
    public func beginUpload(bytes: Int, by caller: String?) async throws -> UploadInProgress {
        if let quota = quotaInForce(for: caller) { try await write { try Self.checkQuota(quota, $0) } }
        let id = MediaID.make()
        let upload = UploadInProgress(id: id, path: try await uploadBytes.begin(id), caller: caller)
        do {
            try await reserve(bytes, for: upload)
        } catch {
            await uploadBytes.discard(upload.path)
            throw error
        }
        return upload
    }

    public func reserve(_ bytes: Int, for upload: UploadInProgress) async throws {
        let (limits, reservations) = (limits, reservations)
        try await write {
            try reservations.reserve(bytes, for: upload.id, owner: upload.caller ?? "", limits: limits, on: $0)
        }
    }

    public func store(_ upload: UploadInProgress, bytes: Int, sha256: String) async throws -> Upload {
        files?.hold([upload.id.text])
        defer { files?.release([upload.id.text]) }
        try await uploadBytes.store(upload.id, from: upload.path, bytes: bytes, sha256: sha256)
        let (path, seconds) = (uploadBytes.path(upload.id), limits.uploadSecondsMax)
        let stored = try await write { transaction in
            let now = Date(milliseconds: transaction.moment.wall)
            let stored = Upload(
                id: upload.id, path: path, bytes: bytes, sha256: sha256, createdAt: now,
                expiresAt: now.addingTimeInterval(seconds))
            transaction.later(
                """
                INSERT INTO upload (id, owner, bytes, sha256, created_at, expires_at)
                VALUES ($1, $2, $3, $4, $5, $6)
                """,
                [
                    .text(stored.id.text), .text(upload.caller ?? ""), .integer(Int64(bytes)), .text(sha256),
                    .integer(stored.createdAt.milliseconds), .integer(stored.expiresAt.milliseconds),
                ])
            transaction.added(mediaBytes: Int64(bytes))
            return stored
        }
        reservations.remove(upload.id)
        return stored
    }

    public func discard(_ upload: UploadInProgress) async {
        await uploadBytes.discard(upload.path)
        reservations.remove(upload.id)
    }

    public func upload(_ id: MediaID) async throws -> Upload? {
        let path = uploadBytes.path(id)
        return try await read { [self] connection in
            // An expired upload is still needed by jobs that may run or be retried.
            try connection.row(
                """
                SELECT bytes, sha256, created_at, expires_at FROM upload WHERE id = $1
                AND (expires_at > $2 OR \(ExpiredUploads.isNeeded))
                """, [.text(id.text), .integer(try databaseMilliseconds(connection))]
            ).map {
                Upload(
                    id: id, path: path, bytes: $0[0], sha256: $0[1], createdAt: Date(milliseconds: $0[2]),
                    expiresAt: Date(milliseconds: $0[3]))
            }
        }
    }

    public func file(of upload: Upload) async throws -> String { try await uploadBytes.fetch(upload) }
}

enum ExpiredUploads {
    /// SQL condition: a job that is queued, running, or can be retried needs the upload.
    static let isNeeded = """
        (EXISTS (SELECT 1 FROM job WHERE job.upload = upload.id) OR EXISTS (SELECT 1 FROM finished_job
            WHERE finished_job.upload = upload.id AND finished_job.state IN ('failed', 'dead')))
        """
}
