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
    private let isPassing: Bool
    private let lock: FolderLock

    /// - Parameter path: for this process alone; nil takes one that goes with the queue.
    /// - Throws: `queue.unavailable` when another process has it, or it cannot be used.
    init(_ path: String?) throws {
        let folder = StoreFolder(path: try path ?? PassingFolder.make())
        try folder.makePath()
        lock = try FolderLock(folder, for: "serve or worker")
        // Apart from what the driver of a data folder keeps there.
        let own = StoreFolder(path: "\(folder.path)/nats")
        try own.makePath()
        uploads = try UploadFolder(path: own.path)
        self.path = folder.path
        mirrorPath = "\(own.path)/mirror.sqlite"
        isPassing = path == nil
    }

    func close() {
        if isPassing { try? FileManager.default.removeItem(atPath: path) }
        lock.release()
    }
}

/// A folder that goes with the process that made it.
package enum PassingFolder {
    /// A new one, for its owner alone.
    ///
    /// Linux: mkdtemp(3).
    /// - Throws: `queue.unavailable`.
    package static func make() throws -> String {
        let template = FileManager.default.temporaryDirectory.appending(path: "attachprep-XXXXXX").path
        var name = Array(template.utf8CString)
        let path = unsafe name.withUnsafeMutableBufferPointer { buffer -> String? in
            guard let start = buffer.baseAddress, let made = unsafe mkdtemp(start) else { return nil }
            return unsafe String(cString: made)
        }
        guard let path else { throw StoreFolder.refusal(template, errno) }
        return path
    }
}
