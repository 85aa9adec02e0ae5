public import AttachPrepJobs
import FoundationEssentials
import GRDB
import Glibc
import RichPush

extension SQLiteStore: UploadStore {
    public func beginUpload(bytes: Int, by caller: String?) async throws -> UploadInProgress {
        if let quota = quotaInForce(for: caller) { try await read { try Self.checkQuota(quota, $0) } }
        let id = MediaID.make()
        let upload = UploadInProgress(id: id, path: files.pathInProgress(id), caller: caller)
        try await reserve(bytes, for: upload)
        do {
            try await files.run {
                let descriptor = unsafe Glibc.open(upload.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
                guard descriptor >= 0 else { throw StorageErrors.fileError(errno) }
                Glibc.close(descriptor)
            }
        } catch {
            reservations.remove(id)
            throw error
        }
        return upload
    }

    public func reserve(_ bytes: Int, for upload: UploadInProgress) async throws {
        let (limits, reservations) = (limits, reservations)
        try await write { database, _ in
            try reservations.reserve(bytes, for: upload.id, owner: upload.caller ?? "", limits, database)
        }
    }

    public func store(_ upload: UploadInProgress, bytes: Int, sha256: String) async throws -> Upload {
        let now = Date(milliseconds: clock.now().wall)
        let kept = Upload(
            id: upload.id, path: files.path(upload.id), bytes: bytes, sha256: sha256, createdAt: now,
            expiresAt: now.addingTimeInterval(limits.uploadSecondsMax))
        files.hold([upload.id.text])
        defer { files.release([upload.id.text]) }
        try await files.sync([upload.path])
        try await files.run {
            guard ContentFiles.size(upload.path) == bytes, unsafe rename(upload.path, kept.path) == 0 else {
                throw StorageErrors.fileError(errno)
            }
        }
        try await files.sync([folder.uploads])
        let reservations = reservations
        try await write { database, _ in
            try database.run(
                "INSERT INTO upload (id, owner, bytes, sha256, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
                [
                    kept.id.text, upload.caller ?? "", bytes, sha256, kept.createdAt.milliseconds,
                    kept.expiresAt.milliseconds,
                ])
            reservations.remove(upload.id)
        }
        return kept
    }

    public func discard(_ upload: UploadInProgress) async {
        try? await files.run { _ = unsafe unlink(upload.path) }
        reservations.remove(upload.id)
    }

    public func upload(_ id: MediaID) async throws -> Upload? {
        let now = clock.now().wall
        let path = files.path(id)
        return try await read { database in
            // An expired upload is still needed by jobs that may run or be retried.
            try database.row(
                """
                SELECT bytes, sha256, created_at, expires_at FROM upload WHERE id = ?1
                AND (expires_at > ?2 OR \(ExpiredUploads.isNeeded))
                """, [id.text, now]
            ).map {
                Upload(
                    id: id, path: path, bytes: $0[0], sha256: $0[1], createdAt: Date(milliseconds: $0[2]),
                    expiresAt: Date(milliseconds: $0[3]))
            }
        }
    }
}

extension ContentFiles {
    /// Name prefix of uploads in progress.
    private static let hiddenPrefix = "."

    package func path(_ id: MediaID) -> String { "\(folder.uploads)/\(id)" }

    package func pathInProgress(_ id: MediaID) -> String { "\(folder.uploads)/\(Self.hiddenPrefix)\(id)" }

    /// Removes uploads that were in progress when an earlier process ended; called before new ones start.
    package func sweepUploadsInProgress() throws {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.uploads)) ?? []
        where name.hasPrefix(Self.hiddenPrefix) {
            unsafe unlink("\(folder.uploads)/\(name)")
        }
    }
}

package enum ExpiredUploads {
    /// SQL condition: a job that is queued, running, or can be retried needs the upload.
    package static let isNeeded = """
        EXISTS (SELECT 1 FROM job WHERE job.upload = upload.id
            AND job.state IN ('queued', 'running', 'failed', 'dead'))
        """
}
