import AttachPrep
import Glibc
import RichPush
import Synchronization

/// Uploads on this machine: those that are being written, and copies of those that the servers have.
///
/// One thread makes, places and removes them, one after the other; a copy's time of change is that of its last use.
final class UploadFolder: Sendable {
    let folder: String
    let lane: BlockingLane
    let fetches = Mutex<[MediaID: Task<Void, any Error>]>([:])

    /// Opens a folder for this process alone, for its owner alone; blocking. What an earlier process left there goes:
    /// nobody knows whether the disk has all of it.
    ///
    /// - Parameter path: gets a folder `uploads`.
    /// - Throws: `queue.unavailable`, with the path.
    init(path: String) throws {
        folder = "\(path)/uploads"
        lane = try BlockingLane()
        try StoreFolder(path: folder).makePath()
        for name in ContentFiles.names(folder) { unsafe unlink("\(folder)/\(name)") }
    }

    /// Where the copy of an upload lies, if there is one.
    func path(_ id: MediaID) -> String { "\(folder)/\(id)" }

    // MARK: Files in progress

    /// A new file, empty, to be written by the caller.
    func begin(_ id: MediaID) async throws -> UploadInProgress {
        let path = "\(folder)/.\(id)"
        _ = try await open(path, O_WRONLY | O_CREAT | O_EXCL)
        return UploadInProgress(id: id, path: path)
    }

    /// What was written.
    ///
    /// - Throws: `output.not_writable` when it is not as long as was said.
    func written(_ upload: UploadInProgress, bytes: Int) async throws -> BlockingFile {
        let path = upload.path
        let isWhole = try await lane.run { ContentFiles.size(path) == bytes }
        guard isWhole else { throw StoreFault.file(EIO) }
        return try await open(path, O_RDONLY)
    }

    /// An empty file for a copy on its way.
    func beginCopy(_ id: MediaID) async throws -> BlockingFile {
        try await open("\(folder)/.\(id).copy", O_WRONLY | O_CREAT | O_TRUNC)
    }

    private func open(_ path: String, _ flags: CInt) async throws -> BlockingFile {
        let lane = lane
        return try await lane.run { try BlockingFile(path: path, flags, on: lane) }
    }

    /// Removes a file in progress, if it is there.
    func discard(_ path: String) async {
        try? await lane.run { _ = unsafe unlink(path) }
    }
}
