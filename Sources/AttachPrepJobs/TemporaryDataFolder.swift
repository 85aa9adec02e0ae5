import AttachPrep
import Glibc
import RichPush
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A data folder that lives as long as its process: of a command that looks at a queue on servers, and of a service
/// that was given no `--state`.
///
/// It is locked while its process lives, and the kernel releases the lock however that ends. So the next process that
/// makes one can tell what a killed one left, and removes it.
package final class TemporaryDataFolder: Sendable {
    package let path: String
    /// Holds the lock: flock(2) on the folder itself.
    private let descriptor: CInt
    private let isRemoved = Mutex(false)

    /// Those of this process that are not removed yet, for a signal that ends it.
    private static let alive = Mutex<Set<String>>([])

    /// A new one in the system's folder for temporary files, for this user alone; removes what killed processes left.
    ///
    /// Linux: mkdtemp(3).
    /// - Throws: `queue.unavailable`.
    package convenience init() throws {
        try self.init(in: FileManager.default.temporaryDirectory.path)
    }

    init(in parent: String) throws {
        Self.sweep(parent)
        // Another process may sweep the folder between its making and its locking.
        var made = try Self.makeLocked(in: parent)
        for _ in 0..<Self.sweptTriesMax where made == nil { made = try Self.makeLocked(in: parent) }
        guard let made else { throw StoreFolder.refusal(parent, EBUSY) }
        (path, descriptor) = made
        Self.alive.withLock { [path] in _ = $0.insert(path) }
    }

    /// Each try has a name of its own: to be swept twice is next to impossible.
    private static let sweptTriesMax = 5

    deinit {
        remove()
    }

    package func remove() {
        let isFirst = isRemoved.withLock { isRemoved in
            defer { isRemoved = true }
            return !isRemoved
        }
        guard isFirst else { return }
        Self.alive.withLock { _ = $0.remove(path) }
        try? FileManager.default.removeItem(atPath: path)
        close(descriptor)
    }

    /// Removes those of this process: for a signal that is about to end it.
    package static func removeAll() {
        let paths = alive.withLock { alive in
            defer { alive = [] }
            return alive
        }
        for path in paths { try? FileManager.default.removeItem(atPath: path) }
    }

    // MARK: Names and locks

    private static let prefix = "attachprep-"
    /// What mkdtemp(3) puts in their place.
    private static let places = "XXXXXX"

    /// Nil when it was swept before it was locked.
    private static func makeLocked(in parent: String) throws -> (String, CInt)? {
        let template = "\(parent)/\(prefix)\(places)"
        var name = Array(template.utf8CString)
        let path = unsafe name.withUnsafeMutableBufferPointer { buffer -> String? in
            guard let start = buffer.baseAddress, let made = unsafe mkdtemp(start) else { return nil }
            return unsafe String(cString: made)
        }
        guard let path else { throw StoreFolder.refusal(template, errno) }
        guard let descriptor = lock(path) else { return nil }
        guard unsafe access(path, F_OK) == 0 else {
            close(descriptor)
            return nil
        }
        return (path, descriptor)
    }

    /// Nil when somebody else holds the lock, or it cannot be opened.
    private static func lock(_ path: String) -> CInt? {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    // MARK: What killed processes left

    /// Removes this user's folders whose process is gone.
    static func sweep(_ parent: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where isOne(name) {
            let path = "\(parent)/\(name)"
            guard let descriptor = lock(path) else { continue }
            defer { close(descriptor) }
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0, status.st_uid == geteuid(), !isHeldByFile(path) else {
                continue
            }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    private static func isOne(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + places.utf8.count
            && name.dropFirst(prefix.count).allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// Earlier versions hold no lock on the folder, but one on a file in it.
    private static func isHeldByFile(_ path: String) -> Bool {
        let descriptor = unsafe open(StoreFolder(path: path).lock, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0
    }
}
