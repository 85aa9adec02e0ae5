import AttachPrep
import Crypto
import Logging
import NATS
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Uploads lie in a bucket of the servers', for all machines; each has copies of those that it works with.
extension JetStreamQueue: UploadStore {
    public func beginUpload() async throws -> UploadInProgress {
        try await uploadFolder.begin(.make())
    }

    public func keep(_ upload: UploadInProgress, bytes: Int, sha256: String) async throws -> Upload {
        let file = try await uploadFolder.written(upload, bytes: bytes)
        let createdAt = clock.now().wall
        _ = try await named {
            try await uploads.put(
                upload.id.text, bytes: bytes, digest: sha256, metadata: [Self.createdKey: "\(createdAt)"]
            ) { offset, count in try await file.read(count, at: offset) }
        }
        do {
            try await uploadFolder.place(upload.path, as: upload.id, at: clock.wall())
        } catch {
            // The servers have it: it is fetched from there when it is needed.
            logger.warning("an upload has no copy here", metadata: ["upload": "\(upload.id)", "error": "\(error)"])
        }
        return described(upload.id, bytes: bytes, sha256: sha256, createdAt: createdAt)
    }

    public func discard(_ upload: UploadInProgress) async {
        await uploadFolder.discard(upload.path)
    }

    /// As the servers have it; its path is where `file(of:)` brings it.
    public func upload(_ id: MediaID) async throws -> Upload? {
        guard let object = try await named({ try await uploads.information(id.text) }),
            let sha256 = object.sha256, let text = object.metadata?[Self.createdKey], let createdAt = Int64(text)
        else { return nil }
        let upload = described(id, bytes: object.size, sha256: sha256, createdAt: createdAt)
        if upload.expiresAt > clock.wall() { return upload }
        // A job that names it may still run, or be tried again.
        return try await mirror.needs(upload: id.text) ? upload : nil
    }

    /// Among an object's metadata: when it was kept, in milliseconds since 1970.
    private static let createdKey = "created"

    private func described(_ id: MediaID, bytes: Int, sha256: String, createdAt: Int64) -> Upload {
        let date = Date(milliseconds: createdAt)
        return Upload(
            id: id, path: uploadFolder.path(id), bytes: bytes, sha256: sha256, createdAt: date,
            expiresAt: date.addingTimeInterval(limits.uploadSecondsMax))
    }

    // MARK: Copies

    public func file(of upload: Upload) async throws -> String {
        try await uploadFolder.bring(upload.id) { [self] in
            if try await uploadFolder.use(upload.id, bytes: upload.bytes, at: clock.wall()) { return }
            try await named { try await fetch(upload) }
        }
        return uploadFolder.path(upload.id)
    }

    private func fetch(_ upload: Upload) async throws {
        guard let object = try await uploads.information(upload.id.text) else {
            throw AttachPrepError(.sourceNotFound, "The upload is no longer there; send the file again.")
        }
        let file = try await uploadFolder.beginCopy(upload.id)
        do {
            guard try await write(object, into: file) == upload.sha256 else {
                throw NATSError.unreadable(subject: uploads.name, text: "\(upload.id) has another SHA-256")
            }
            try await uploadFolder.place(file.path, as: upload.id, at: clock.wall())
        } catch {
            await uploadFolder.discard(file.path)
            throw error
        }
    }

    /// - Returns: the SHA-256 of what was written, in lower-case hexadecimal.
    private func write(_ object: ObjectInformation, into file: BlockingFile) async throws -> String {
        var hash = SHA256()
        var bytes = 0
        try await uploads.get(object) { piece in
            hash.update(data: piece)
            try await file.write(piece, at: bytes)
            bytes += piece.count  // Bounded: at most the bytes of a file.
        }
        return hash.finalize().hexadecimal
    }
}
