import AttachPrep
import RichPush
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A data folder that lives as long as its process: of a command that looks at a queue on servers, and of a service
/// that was given no `--state`.
package final class TemporaryDataFolder: Sendable {
    private let folder: LockedFolder
    package var path: String { folder.path }

    /// Those of this process that are not removed yet, for a signal that ends it.
    private static let alive = Mutex<Set<String>>([])
    private static let prefix = "attachprep-"

    /// A new one in the system's folder for temporary files; removes what killed processes left there.
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
            throw StoreFolder.refusal(error.path, error.code)
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

    /// Removes those of this process: for a signal that is about to end it.
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
