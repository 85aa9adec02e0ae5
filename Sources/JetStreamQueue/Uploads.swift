import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import Crypto
import FoundationEssentials
import GRDB
import Logging
import NATS
import RichPush
import SQLiteQueue

/// Uploads, stored in an object bucket for all machines. Each machine keeps copies of the ones that it uses.
extension NATSJobQueue: UploadStore {
    public func beginUpload(bytes: Int, by caller: String?) async throws -> UploadInProgress {
        try await uploadCache.begin(.make())
    }

    public func store(_ upload: UploadInProgress, bytes: Int, sha256: String) async throws -> Upload {
        let file = try await uploadCache.written(upload, bytes: bytes)
        let createdAt = clock.now().wall
        _ = try await mapError {
            try await uploads.put(
                upload.id.text, bytes: bytes, digest: sha256, metadata: [Self.createdKey: "\(createdAt)"]
            ) { offset, count in try await file.read(count, at: offset) }
        }
        do {
            try await uploadCache.store(upload.path, as: upload.id, at: clock.wall())
        } catch {
            // The servers have it; it is fetched from there when needed.
            logger.warning("an upload has no local copy", metadata: ["upload": "\(upload.id)", "error": "\(error)"])
        }
        return described(upload.id, bytes: bytes, sha256: sha256, createdAt: createdAt)
    }

    public func discard(_ upload: UploadInProgress) async {
        await uploadCache.discard(upload.path)
    }

    /// The upload on the servers. Its path is that of the local copy, which `file(of:)` creates.
    public func upload(_ id: MediaID) async throws -> Upload? {
        guard let object = try await mapError({ try await uploads.information(id.text) }),
            let sha256 = object.sha256, let text = object.metadata?[Self.createdKey], let createdAt = Int64(text)
        else { return nil }
        let upload = described(id, bytes: object.size, sha256: sha256, createdAt: createdAt)
        if upload.expiresAt > clock.wall() { return upload }
        // An expired upload is kept while a job with it may run or be retried.
        return try await mirror.needs(upload: id.text) ? upload : nil
    }

    /// The metadata key of the time when it was stored, in milliseconds since 1970.
    private static let createdKey = "created"

    private func described(_ id: MediaID, bytes: Int, sha256: String, createdAt: Int64) -> Upload {
        let date = Date(milliseconds: createdAt)
        return Upload(
            id: id, path: uploadCache.path(id), bytes: bytes, sha256: sha256, createdAt: date,
            expiresAt: date.addingTimeInterval(limits.uploadSecondsMax))
    }

    // MARK: Copies

    public func file(of upload: Upload) async throws -> String {
        try await uploadCache.fetchOnce(upload.id) { [self] in
            if try await uploadCache.refreshCopy(upload.id, bytes: upload.bytes, at: clock.wall()) { return }
            try await mapError { try await fetch(upload) }
        }
        return uploadCache.path(upload.id)
    }

    private func fetch(_ upload: Upload) async throws {
        guard let object = try await uploads.information(upload.id.text) else {
            throw AttachPrepError(.sourceNotFound, "The upload no longer exists; send the file again.")
        }
        let file = try await uploadCache.beginCopy(upload.id)
        do {
            guard try await write(object, into: file) == upload.sha256 else {
                throw NATSError.unreadable(subject: uploads.name, text: "\(upload.id) has a wrong SHA-256")
            }
            try await uploadCache.store(file.path, as: upload.id, at: clock.wall())
        } catch {
            await uploadCache.discard(file.path)
            throw error
        }
    }

    /// - Returns: The SHA-256 of the written bytes in lowercase hexadecimal.
    private func write(_ object: ObjectInfo, into file: CacheFile) async throws -> String {
        var hash = SHA256()
        var bytes = 0
        try await uploads.get(object) { piece in
            hash.update(data: piece)
            try await file.write(piece, at: bytes)
            bytes += piece.count
        }
        return hash.finalize().hexadecimal
    }
}

extension JobMirror {
    func needs(upload: String) async throws -> Bool {
        try await read { database in
            try database.number(
                "SELECT 1 FROM (SELECT ? AS id) AS upload WHERE \(ExpiredUploads.isNeeded)", [upload]) != nil
        }
    }
}
