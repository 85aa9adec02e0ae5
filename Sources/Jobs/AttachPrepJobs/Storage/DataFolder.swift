import AttachPrep
package import AttachPrepModel
import FoundationEssentials
import Glibc
import MediaTypes
import Synchronization

/// Paths in the data folder, which only its owner can access.
package struct DataFolder: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    package var database: String { "\(path)/jobs.sqlite" }
    package var lock: String { "\(path)/jobs.lock" }
    package var content: String { "\(path)/content" }
    package var uploads: String { "\(path)/uploads" }

    /// Creates the missing folders, including parents.
    ///
    /// - Throws: `queue.unavailable`.
    package func make() throws {
        try makePath()
        for folder in [content, uploads] { try Self.makeFolder(folder) }
    }

    /// Creates the folder itself and its parents.
    ///
    /// - Throws: `queue.unavailable`.
    package func makePath() throws {
        do {
            try PrivateFolder.make(path, holding: Self.names)
        } catch {
            throw Self.unusableError(error.path, error.code)
        }
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else { throw Self.unusableError(path, errno) }
    }

    /// Names of entries in a data folder.
    private static let names: Set<String> = [
        "jobs.sqlite", "jobs.sqlite-wal", "jobs.sqlite-shm", "jobs.sqlite-journal", "jobs.lock", "content", "uploads",
        "work", "quarantine", "receipt.key",
    ]

    private static func makeFolder(_ path: String) throws {
        guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        let code = errno
        // On a read-only file system mkdir fails with EROFS for existing folders, too.
        guard unsafe access(path, F_OK) == 0 else { throw unusableError(path, code) }
    }

    /// Creates the empty database file with mode 0600; SQLite gives the files beside it the same mode.
    package func makeDatabaseFile() throws {
        let descriptor = unsafe open(database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.unusableError(database, errno) }
        close(descriptor)
    }

    package var hasDatabase: Bool { unsafe access(database, F_OK) == 0 }

    /// An error for the operator; it contains the path.
    package static func unusableError(_ path: String, _ code: CInt) -> AttachPrepError {
        let reason = unsafe String(cString: strerror(code))
        return AttachPrepError(
            .queueUnavailable, "Cannot use the data folder: \(path): \(reason); choose another --data.",
            isRetryable: false)
    }
}

/// An exclusive lock on a data folder, held by one process until it ends.
///
/// Linux: flock(2). The kernel releases it however the process ends.
package final class FolderLock: Sendable {
    private let descriptor: CInt
    private let isReleased = Mutex(false)

    /// - Throws: `queue.unavailable` when another process holds it.
    package init(_ folder: DataFolder, for command: String = "serve") throws {
        descriptor = unsafe open(folder.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DataFolder.unusableError(folder.lock, errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            guard code == EWOULDBLOCK else { throw DataFolder.unusableError(folder.lock, code) }
            throw AttachPrepError(
                .queueUnavailable,
                "Another attachprep \(command) is using \(folder.path); stop it, or choose another --data.",
                isRetryable: false)
        }
    }

    deinit {
        release()
    }

    package func release() {
        let isFirst = isReleased.withLock { isReleased in
            defer { isReleased = true }
            return !isReleased
        }
        if isFirst { close(descriptor) }
    }
}

/// A data folder that exists until its process ends: for a service without `--data`.
package final class TemporaryDataFolder: Sendable {
    private let folder: LockedFolder
    package var path: String { folder.path }

    /// Folders of this process that still exist, for removal by a signal handler.
    private static let alive = Mutex<Set<String>>([])
    private static let prefix = "attachprep-"

    /// Creates a folder in the system's temporary folder, and removes those that killed processes left there.
    ///
    /// - Throws: `queue.unavailable`.
    package convenience init() throws {
        try self.init(in: FileManager.default.temporaryDirectory.path)
    }

    init(in parent: String) throws {
        Self.sweep(parent)
        do {
            folder = try LockedFolder(in: parent, prefix: Self.prefix)
        } catch {
            throw DataFolder.unusableError(error.path, error.code)
        }
        Self.alive.withLock { [path = folder.path] in _ = $0.insert(path) }
    }

    deinit {
        remove()
    }

    package func remove() {
        Self.alive.withLock { _ = $0.remove(path) }
        folder.remove()
    }

    /// Removes all temporary folders of this process; called when a signal is about to end it.
    package static func removeAll() {
        let paths = alive.withLock { alive in
            defer { alive = [] }
            return alive
        }
        for path in paths { try? FileManager.default.removeItem(atPath: path) }
    }

    static func sweep(_ parent: String) {
        LockedFolder.sweep(parent, prefix: prefix)
    }
}
