import Glibc
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A new folder that is locked while its process lives, and that this user alone can enter.
///
/// The kernel releases the lock however the process ends, so the next one can tell what a killed one left, and remove
/// it with `sweep`.
package final class LockedFolder: Sendable {
    package let path: String
    /// Holds the lock: flock(2) on the folder itself.
    package let descriptor: CInt
    private let isRemoved = Mutex(false)

    /// Makes one of mode 0700 inside a folder that exists.
    ///
    /// - Parameter prefix: what its name begins with; the rest is a UUID.
    package init(in parent: String, prefix: String) throws(PrivateFolder.Failure) {
        for _ in 0..<Self.triesMax {
            let path = "\(parent)/\(prefix)\(UUID().uuidString)"
            guard unsafe mkdir(path, 0o700) == 0 else { throw .init(path: path, code: errno) }
            // Another process may sweep the folder between its making and its locking.
            if let descriptor = Self.lock(path) {
                if unsafe access(path, F_OK) == 0 {
                    (self.path, self.descriptor) = (path, descriptor)
                    return
                }
                close(descriptor)
            } else {
                let code = errno
                unsafe rmdir(path)
                // Not every file system has locks.
                guard code == ENOENT || code == EWOULDBLOCK else { throw .init(path: path, code: code) }
            }
        }
        throw .init(path: parent, code: EBUSY)
    }

    /// Each try has a name of its own: to be swept twice is next to impossible.
    private static let triesMax = 5

    deinit {
        remove()
        close(descriptor)
    }

    /// Removes what stands under its name; the lock stays until the last reference is let go of.
    package func remove() {
        let isFirst = isRemoved.withLock { isRemoved in
            defer { isRemoved = true }
            return !isRemoved
        }
        if isFirst { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Removes this user's folders of that prefix whose process is gone.
    package static func sweep(_ parent: String, prefix: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil
        {
            let path = "\(parent)/\(name)"
            guard let descriptor = lock(path) else { continue }
            defer { close(descriptor) }
            // In a folder for temporary files another user could have made it, to have his own choice removed.
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0, status.st_uid == geteuid() else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// Nil, with errno(3), when somebody else holds the lock, or it is no folder that can be opened.
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
