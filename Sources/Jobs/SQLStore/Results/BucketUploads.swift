public import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
public import FoundationEssentials
import Glibc
public import Logging
import MediaTypes
import Synchronization

/// Uploads in the bucket of results, for a queue of several machines. Each machine keeps copies of those that it uses.
public final class BucketUploads: UploadBytes {
    private let bucket: UploadBucket
    private let folder: String
    private let blocking: BlockingThread
    private let fetches = Mutex<[MediaID: Task<Void, any Error>]>([:])

    /// Opens the store, with exclusive use of its folder. Files of an earlier process are removed, because they may be
    /// incomplete.
    ///
    /// - Parameter folder: the parent of the folder `uploads`.
    /// - Throws: `queue.unavailable`, with the path; `request.invalid`, `publish.denied`.
    public init(_ settings: S3Settings, policy: DownloadPolicy, folder: String, logger: Logger) throws {
        self.folder = "\(folder)/uploads"
        blocking = try BlockingThread()
        bucket = try UploadBucket(settings, policy: policy, blocking: blocking, logger: logger)
        try DataFolder(path: self.folder).makePath()
        for name in ContentFiles.names(self.folder) { unsafe unlink("\(self.folder)/\(name)") }
    }

    public func close() async { await bucket.shutdown() }

    public func path(_ id: MediaID) -> String { "\(folder)/\(id)" }

    public func begin(_ id: MediaID) async throws -> String {
        let path = "\(folder)/\(UploadDraft.hiddenPrefix)\(id)"
        try await blocking.run { try UploadDraft.make(path) }
        return path
    }

    public func store(_ id: MediaID, from path: String, bytes: Int, sha256: String) async throws {
        try await bucket.put(id.text, from: path, bytes: bytes, sha256: sha256)
        try await move(path, to: id)
    }

    public func discard(_ path: String) async {
        try? await blocking.run { _ = unsafe unlink(path) }
    }

    public func fetch(_ upload: Upload) async throws -> String {
        let task = fetches.withLock { fetches -> Task<Void, any Error> in
            // Concurrent calls for the same upload wait for one download.
            if let task = fetches[upload.id] { return task }
            let task = Task {
                defer { fetchEnded(upload.id) }
                try await fetchOnce(upload)
            }
            fetches[upload.id] = task
            return task
        }
        try await task.value
        return path(upload.id)
    }

    private func fetchEnded(_ id: MediaID) { fetches.withLock { $0[id] = nil } }

    private func fetchOnce(_ upload: Upload) async throws {
        let copy = path(upload.id)
        let exists = try await blocking.run {
            guard ContentFiles.size(copy) == upload.bytes else { return false }
            return unsafe utimes(copy, nil) == 0
        }
        if exists { return }
        let draft = "\(folder)/\(UploadDraft.hiddenPrefix)\(upload.id).copy"
        do {
            try await bucket.get(upload.id.text, into: draft, bytes: upload.bytes, sha256: upload.sha256)
            try await move(draft, to: upload.id)
        } catch {
            await discard(draft)
            throw error
        }
    }

    private func move(_ path: String, to id: MediaID) async throws {
        let final = self.path(id)
        try await blocking.run {
            guard unsafe rename(path, final) == 0 else { throw StorageErrors.fileError(errno) }
        }
    }

    public func remove(_ ids: [String]) async throws -> [RemovedFile] {
        var removed: [RemovedFile] = []
        for id in ids {
            // One that cannot be removed is left to the bucket's lifecycle rule.
            guard (try? await bucket.remove(id)) != nil else { continue }
            removed.append(RemovedFile(name: id, bytes: 0))
        }
        return removed
    }

    public func sweepCopies(at date: Date) async throws -> [RemovedFile] {
        let (folder, oldest) = (folder, Int(date.timeIntervalSince1970 - Limits.uploadCopySecondsMax))
        return try await blocking.run {
            ContentFiles.names(folder).compactMap { name -> RemovedFile? in
                var status = stat()
                guard MediaID(name) != nil, unsafe lstat("\(folder)/\(name)", &status) == 0,
                    status.st_mtim.tv_sec <= oldest, unsafe unlink("\(folder)/\(name)") == 0
                else { return nil }
                return RemovedFile(name: name, bytes: Int(status.st_size))
            }
        }
    }
}

extension Limits {
    /// How long a machine keeps its copy of an upload: jobs of one upload mostly arrive together.
    package static let uploadCopySecondsMax = 3_600.0
}
