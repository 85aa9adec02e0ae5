import AttachPrep
import Glibc
import RichPush
import SafeArithmetic
import Synchronization

/// The files of a data folder: content under its digest, uploads under their names.
///
/// One thread places and removes them, one after the other. What is being stored is held until its rows are committed,
/// and a file is removed only when nobody holds it and, looked up on that same thread, no row names it.
final class ContentFiles: Sendable {
    let folder: StoreFolder
    let isDurable: Bool
    private let lane: BlockingLane
    /// Waiting for a disk to take files is done on several threads at a time.
    private let syncing: [BlockingLane]
    private let held = Mutex<[String: Int]>([:])

    private static let syncingCount = 4

    init(folder: StoreFolder, durability: StoreDurability) throws {
        self.folder = folder
        isDurable = durability == .always
        lane = try BlockingLane()
        syncing = try (0..<(durability == .always ? Self.syncingCount : 0)).map { _ in try BlockingLane() }
    }

    /// Where content lies.
    func path(_ sha256: String) -> String { "\(folder.content)/\(sha256.prefix(2))/\(sha256)" }

    func hold(_ names: [String]) {
        held.withLock { held in
            for name in names { held[name, default: 0] += 1 }
        }
    }

    func letGo(_ names: [String]) {
        held.withLock { held in
            // Bounded: counts of what is in memory.
            for name in names { held[name] = held[name].flatMap { $0 > 1 ? $0 - 1 : nil } }
        }
    }

    func isHeld(_ name: String) -> Bool { held.withLock { $0[name] != nil } }

    /// Runs file work after all that came before it.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        do {
            return try await lane.run(work)
        } catch {
            throw StoreFault.error(error)
        }
    }

    /// Has the disk take what was written into these files or folders; nothing when only the process may end.
    func sync(_ paths: [String]) async throws {
        guard isDurable else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, path) in paths.enumerated() {
                let lane = syncing[index % syncing.count]
                group.addTask { try await lane.run { try Self.sync(path) } }
            }
            try await group.waitForAll()
        }
    }

    private static func sync(_ path: String) throws {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreFault.file(errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StoreFault.file(errno) }
    }

    /// - Returns: its bytes; nil when it is not there, or no file.
    static func size(_ path: String) -> Int? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(clamping: status.st_size)
    }
}
