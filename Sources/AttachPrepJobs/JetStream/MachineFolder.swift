import AttachPrep
import Glibc
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a machine keeps for itself of a queue that is on servers: the read model, and copies of uploads. All of it is
/// made anew when it is gone.
final class MachineFolder: Sendable {
    let uploads: UploadFolder
    let mirrorPath: String
    let path: String
    /// Nil where a folder was named.
    private let temporary: TemporaryDataFolder?
    private let lock: FolderLock

    /// - Parameter path: for this process alone; nil takes one that goes with the queue.
    /// - Throws: `queue.unavailable` when another process has it, or it cannot be used.
    init(_ path: String?) throws {
        temporary = path == nil ? try TemporaryDataFolder() : nil
        let folder = StoreFolder(path: path ?? temporary?.path ?? "")
        try folder.makePath()
        lock = try FolderLock(folder, for: "serve or worker")
        // Apart from what the driver of a data folder keeps there.
        let own = StoreFolder(path: "\(folder.path)/nats")
        try own.makePath()
        uploads = try UploadFolder(path: own.path)
        self.path = folder.path
        mirrorPath = "\(own.path)/mirror.sqlite"
    }

    func close() {
        temporary?.remove()
        lock.release()
    }
}
