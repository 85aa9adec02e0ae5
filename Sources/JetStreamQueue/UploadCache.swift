import AttachPrep
import AttachPrepJobs
import FileIO
import FoundationEssentials
import Glibc
package import RichPush
import SQLiteQueue
import SafeArithmetic
import Synchronization

/// The uploads on this machine: uploads in progress, and copies of uploads on the servers.
///
/// All file operations run on one blocking thread. A copy's modification time is the time of its last use.
final class UploadCache: Sendable {
    let folder: String
    let lane: BlockingThread
    let fetches = Mutex<[MediaID: Task<Void, any Error>]>([:])

    /// Opens the cache, with exclusive use of its folder; blocking. Files of an earlier process are removed, because
    /// they may be incomplete.
    ///
    /// - Parameter path: the parent of the folder `uploads`.
    /// - Throws: `queue.unavailable`, with the path.
    init(path: String) throws {
        folder = "\(path)/uploads"
        lane = try BlockingThread()
        try DataFolder(path: folder).makePath()
        for name in ContentFiles.names(folder) { unsafe unlink("\(folder)/\(name)") }
    }

    /// The path of the copy of an upload, whether it exists or not.
    func path(_ id: MediaID) -> String { "\(folder)/\(id)" }

    // MARK: Files in progress

    func begin(_ id: MediaID) async throws -> UploadInProgress {
        let path = "\(folder)/.\(id)"
        _ = try await open(path, O_WRONLY | O_CREAT | O_EXCL)
        return UploadInProgress(id: id, path: path)
    }

    /// Opens a written upload for reading.
    ///
    /// - Throws: `output.not_writable` when its length is not `bytes`.
    func written(_ upload: UploadInProgress, bytes: Int) async throws -> CacheFile {
        let path = upload.path
        let isWhole = try await lane.run { ContentFiles.size(path) == bytes }
        guard isWhole else { throw StorageErrors.fileError(EIO) }
        return try await open(path, O_RDONLY)
    }

    func beginCopy(_ id: MediaID) async throws -> CacheFile {
        try await open("\(folder)/.\(id).copy", O_WRONLY | O_CREAT | O_TRUNC)
    }

    private func open(_ path: String, _ flags: CInt) async throws -> CacheFile {
        let lane = lane
        return try await lane.run { try CacheFile(path: path, flags, on: lane) }
    }

    func discard(_ path: String) async {
        try? await lane.run { _ = unsafe unlink(path) }
    }
}

/// Copies of uploads.
extension UploadCache {
    /// Renames a file in progress to the copy of an upload; removes it if that fails.
    func store(_ path: String, as id: MediaID, at date: Date) async throws {
        let copy = self.path(id)
        try await lane.run {
            Self.touch(path, at: date)
            guard unsafe rename(path, copy) != 0 else { return }
            let code = errno
            unsafe unlink(path)
            throw StorageErrors.fileError(code)
        }
    }

    /// Marks the copy of an upload as used.
    ///
    /// - Returns: False when there is no copy of this length.
    func refreshCopy(_ id: MediaID, bytes: Int, at date: Date) async throws -> Bool {
        let copy = path(id)
        return try await lane.run {
            guard ContentFiles.size(copy) == bytes else { return false }
            Self.touch(copy, at: date)
            return true
        }
    }

    /// Runs `work`, which fetches an upload; concurrent calls for the same upload wait for its result.
    func fetchOnce(_ id: MediaID, _ work: @escaping @Sendable () async throws -> Void) async throws {
        let task = fetches.withLock { fetches -> Task<Void, any Error> in
            if let task = fetches[id] { return task }
            let task = Task {
                defer { self.removeFetch(id) }
                try await work()
            }
            fetches[id] = task
            return task
        }
        try await task.value
    }

    private func removeFetch(_ id: MediaID) {
        fetches.withLock { $0[id] = nil }
    }

    /// Removes copies that were not used for `Limits.uploadCopySecondsMax`.
    @discardableResult
    func sweep(at date: Date) async throws -> [RemovedFile] {
        let (folder, oldest) = (folder, date.milliseconds - Int64(Limits.uploadCopySecondsMax * 1000))
        return try await lane.run {
            ContentFiles.names(folder).compactMap { name -> RemovedFile? in
                let path = "\(folder)/\(name)"
                guard MediaID(name) != nil, let usedAt = Self.usedAt(path), usedAt <= oldest else { return nil }
                let bytes = ContentFiles.size(path) ?? 0
                return unsafe unlink(path) == 0 ? RemovedFile(name: name, bytes: bytes) : nil
            }
        }
    }

    /// The time of the last use in milliseconds since 1970; nil when the file does not exist.
    private static func usedAt(_ path: String) -> Int64? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        return Int64(clamping: status.st_mtim.tv_sec).multiplied(clamping: 1000) + Int64(status.st_mtim.tv_nsec)
            / 1_000_000
    }

    /// Sets the time of last use from the queue's clock, which `sweep` uses, too.
    private static func touch(_ path: String, at date: Date) {
        let milliseconds = date.milliseconds
        let time = timeval(tv_sec: Int(milliseconds / 1000), tv_usec: Int(milliseconds % 1000) * 1000)
        _ = unsafe utimes(path, [time, time])
    }
}

/// An open file that is read and written on a blocking thread.
final class CacheFile: Sendable {
    let path: String
    private let descriptor: CInt
    private let lane: BlockingThread

    /// Opens a file; blocking.
    ///
    /// - Parameter flags: those of open(2). A new file gets mode 0600.
    /// - Throws: `output.not_writable`, `output.no_space`.
    init(path: String, _ flags: CInt, on lane: BlockingThread) throws {
        let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StorageErrors.fileError(errno) }
        self.path = path
        self.descriptor = descriptor
        self.lane = lane
    }

    deinit {
        Glibc.close(descriptor)
    }

    func read(_ count: Int, at offset: Int) async throws -> [UInt8] {
        try await lane.run { [self] in
            let bytes = try Self.storing { () throws(FileIOError) in
                try FileIO.bytes(descriptor, at: offset, count: count)
            }
            guard bytes.count == count else { throw StorageErrors.fileError(EIO) }
            return bytes
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) async throws {
        try await lane.run { [self] in
            try Self.storing { () throws(FileIOError) in try FileIO.write(bytes, to: descriptor, at: offset) }
        }
    }

    private static func storing<Result>(_ body: () throws(FileIOError) -> Result) throws -> Result {
        do { return try body() } catch { throw StorageErrors.fileError(error.code) }
    }
}

extension Limits {
    /// How long a machine keeps its copy of an upload that is stored on the servers: jobs of one upload mostly arrive
    /// together.
    package static let uploadCopySecondsMax = 3_600.0
}
