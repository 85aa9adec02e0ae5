import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import Glibc
import MediaTypes
import SafeArithmetic
import Synchronization

/// The files of a data folder: content by SHA-256, uploads by id.
///
/// One thread adds and removes files sequentially. Files are held while they are stored, until their rows are
/// committed; a file is removed only when it is not held and a query on the same thread finds no row for it.
public final class ContentFiles: Sendable {
    let folder: DataFolder
    private let isDurable: Bool
    private let lane: BlockingThread
    /// Threads for fsync, which runs on several files in parallel.
    private let syncing: [BlockingThread]
    private struct State {
        var held: [String: Int] = [:]
        /// The files of each removal that is in progress.
        var removals: [Int: Set<String>] = [:]
        var lastRemoval = 0
    }

    private let state = Mutex(State())

    private static let syncingCount = 4

    /// - Parameter path: the data folder.
    /// - Throws: `internal` when no thread can be started.
    public init(path: String, durability: StoreDurability) throws {
        let folder = DataFolder(path: path)
        self.folder = folder
        isDurable = durability == .always
        lane = try BlockingThread()
        syncing = try (0..<(durability == .always ? Self.syncingCount : 0)).map { _ in try BlockingThread() }
    }

    func path(_ sha256: String) -> String { "\(folder.content)/\(sha256.prefix(2))/\(sha256)" }

    /// Protects files from removal until `release`; holds are counted.
    func hold(_ names: [String]) {
        state.withLock { state in
            for name in names {
                state.held[name, default: 0] += 1
                for number in state.removals.keys { state.removals[number]?.remove(name) }
            }
        }
    }

    func release(_ names: [String]) {
        state.withLock { state in
            for name in names { state.held[name] = state.held[name].flatMap { $0 > 1 ? $0 - 1 : nil } }
        }
    }

    func isHeld(_ name: String) -> Bool { state.withLock { $0.held[name] != nil } }

    /// Begins a removal: files that are held from now on are no longer part of it.
    func beginRemoval(_ names: [String]) -> Int {
        state.withLock { state in
            state.lastRemoval += 1
            state.removals[state.lastRemoval] = Set(names)
            return state.lastRemoval
        }
    }

    func endRemoval(_ number: Int) { state.withLock { _ = $0.removals.removeValue(forKey: number) } }

    /// Whether a file was not held since the removal began.
    func mayRemove(_ name: String, _ number: Int) -> Bool {
        state.withLock { $0.held[name] == nil && $0.removals[number]?.contains(name) == true }
    }

    /// Runs file operations on the file thread, in order.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        do {
            return try await lane.run(work)
        } catch {
            throw StoreErrors.error(error)
        }
    }

    /// Calls fsync on files or folders when durability is `always`; otherwise does nothing.
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
        guard descriptor >= 0 else { throw StorageErrors.fileError(errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StorageErrors.fileError(errno) }
    }

    /// - Returns: The size in bytes; nil when it does not exist or is not a regular file.
    static func size(_ path: String) -> Int? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(clamping: status.st_size)
    }
}

/// A file of a result that is being stored.
struct ResultFile: Sendable, Hashable {
    var name: String
    var mimeType: String
    var bytes: Int
    var sha256: String

    static func all(of manifest: Manifest) -> [ResultFile] {
        manifest.files.map { .init(name: $0.name, mimeType: $0.mimeType, bytes: $0.bytes, sha256: $0.sha256) }
    }
}

extension ContentFiles {
    /// Moves files into the content folder. The caller holds them until their rows are committed.
    func moveIntoContent(_ files: [ResultFile], from source: String) async throws {
        try await sync(files.map { "\(source)/\($0.name)" })
        try await run {
            for file in files { try self.moveIntoContent(file, from: source) }
            PrivateFolder.remove(source)
        }
        try await sync(Set(files.map { "\(folder.content)/\($0.sha256.prefix(2))" }).sorted() + [folder.content])
    }

    private func moveIntoContent(_ file: ResultFile, from source: String) throws {
        let (new, final) = ("\(source)/\(file.name)", path(file.sha256))
        guard Self.size(new) == file.bytes else {
            throw AttachPrepError(
                .outputNotWritable, "A prepared file does not match its manifest; try again.",
                detail: "\(file.name): \(Self.size(new) ?? -1) bytes instead of \(file.bytes)", isRetryable: true)
        }
        // The content exists already; its size differs if a power failure truncated it.
        if Self.size(final) == file.bytes { return }
        if unsafe rename(new, final) == 0 { return }
        guard errno == ENOENT else { throw StorageErrors.fileError(errno) }
        guard unsafe mkdir("\(folder.content)/\(file.sha256.prefix(2))", 0o700) == 0 || errno == EEXIST,
            unsafe rename(new, final) == 0
        else { throw StorageErrors.fileError(errno) }
    }
}
