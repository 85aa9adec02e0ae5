import AttachPrepModel
import FoundationEssentials
import Glibc
import MediaTypes
import Synchronization

/// Creates folders that only the user of this process can access, regardless of its umask.
package enum PrivateFolder {
    /// A folder could not be created.
    package struct CreationError: Error {
        package let path: String
        /// The errno(3) value.
        package let code: CInt
    }

    /// Creates a folder and its missing parents with mode 0700.
    ///
    /// An existing folder is set to mode 0700 as well if this user owns it and it has no entries except `names` and
    /// `lost+found`. Any other existing folder, such as the volume of a container, is not changed; what is created in
    /// it is private by itself.
    /// - Parameter names: The names of entries that attachprep creates.
    package static func make(_ path: String, holding names: Set<String>) throws(CreationError) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += "\(part)/"
            try makeOne(made)
        }
        tighten(path, holding: names)
    }

    /// Removes a folder with its files; most are empty or renamed by then, for which one call is enough.
    package static func remove(_ path: String) {
        guard unsafe rmdir(path) != 0, errno != ENOENT else { return }
        try? FileManager.default.removeItem(atPath: path)
    }

    private static func makeOne(_ path: String) throws(CreationError) {
        guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        let code = errno
        // On a read-only disk, mkdir(2) fails with EROFS for existing folders too.
        guard unsafe access(path, F_OK) == 0 else { throw CreationError(path: path, code: code) }
    }

    private static func tighten(_ path: String, holding names: Set<String>) {
        // The open descriptor ensures that the folder that was checked is the one that is changed.
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 != 0,
            // Excludes shared folders for temporary files, which have the sticky bit.
            status.st_mode & S_ISVTX == 0,
            let entries = try? FileManager.default.contentsOfDirectory(atPath: path),
            entries.allSatisfy({ names.contains($0) || $0 == "lost+found" })
        else { return }
        fchmod(descriptor, 0o700)
    }
}

/// A new folder with mode 0700 that is locked while its process runs.
///
/// The kernel releases the lock when the process ends in any way, so that a later process can recognize and remove the
/// folders of a killed one with `sweep`.
package final class LockedFolder: Sendable {
    package let path: String
    /// The descriptor of the folder, which holds an flock(2) lock.
    package let descriptor: CInt
    private let isRemoved = Mutex(false)

    /// Creates and locks a folder in an existing parent.
    ///
    /// - Parameter prefix: The start of its name; the rest is a UUID.
    package init(in parent: String, prefix: String) throws(PrivateFolder.CreationError) {
        for _ in 0..<Self.triesMax {
            let path = "\(parent)/\(prefix)\(UUID().uuidString)"
            guard unsafe mkdir(path, 0o700) == 0 else { throw .init(path: path, code: errno) }
            // Another process may sweep the folder between its creation and its locking.
            if let descriptor = Self.lock(path) {
                if unsafe access(path, F_OK) == 0 {
                    (self.path, self.descriptor) = (path, descriptor)
                    return
                }
                close(descriptor)
            } else {
                let code = errno
                unsafe rmdir(path)
                // Not every file system supports locks.
                guard code == ENOENT || code == EWOULDBLOCK else { throw .init(path: path, code: code) }
            }
        }
        throw .init(path: parent, code: EBUSY)
    }

    /// Each attempt uses a new name, so that a second collision with a sweep is very unlikely.
    private static let triesMax = 5

    deinit {
        remove()
        close(descriptor)
    }

    /// Removes the folder at `path`; the lock is held until the object is released.
    package func remove() {
        let isFirst = isRemoved.withLock { isRemoved in
            defer { isRemoved = true }
            return !isRemoved
        }
        if isFirst { PrivateFolder.remove(path) }
    }

    /// Removes this user's folders with that prefix whose process has ended.
    package static func sweep(_ parent: String, prefix: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil
        {
            let path = "\(parent)/\(name)"
            guard let descriptor = lock(path) else { continue }
            defer { close(descriptor) }
            // In a shared temporary folder, another user could have created it to have files of their choice removed.
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0, status.st_uid == geteuid() else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// Opens and locks a folder; nil with errno(3) set when it is locked or cannot be opened.
    private static func lock(_ path: String) -> CInt? {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            errno = code
            return nil
        }
        return descriptor
    }
}

/// Maps errno(3) values of failed writes to errors.
enum OutputErrors {
    /// `output.no_space` on a full disk or quota, else `output.not_writable`.
    static func error(_ code: CInt) -> AttachPrepError {
        let detail = unsafe String(cString: strerror(code))
        return switch code {
        case ENOSPC, EDQUOT, EFBIG:
            AttachPrepError(
                .outputNoSpace, "The output disk is full; free some space and try again.", detail: detail)
        default:
            AttachPrepError(
                .outputNotWritable, "The output folder is not writable; choose another one.",
                detail: detail)
        }
    }
}
