import AttachPrepModel
import FoundationEssentials
import Glibc
import MediaTypes

/// Quarantine entries on disk, one small file each, shared by all processes that use the data folder.
///
/// Files are replaced by rename, so readers need no lock; writers hold one, so no strike is lost.
struct QuarantineFolder: Sendable {
    private let folder: String
    private let path: String
    private let entriesMax: Int

    /// - Parameter folder: The data folder, which is created with the first entry.
    init(folder: String, entriesMax: Int = Limits.quarantineEntriesMax) {
        self.folder = folder
        path = "\(folder)/quarantine"
        self.entriesMax = entriesMax
    }

    /// The entry of a digest; nil without a readable one.
    func entry(_ digest: String) -> QuarantineEntry? {
        // Fast path: nearly always there is no entry.
        unsafe access("\(path)/\(digest).json", F_OK) == 0 ? read("\(digest).json") : nil
    }

    /// Whether content in quarantine has this prefix digest.
    func hasPrefix(_ digest: String) -> Bool {
        unsafe access("\(path)/\(digest).prefix", F_OK) == 0
    }

    func entries() -> [QuarantineEntry] {
        names.filter { $0.hasSuffix(".json") }.compactMap(read)
    }

    /// Changes one entry under the lock.
    ///
    /// - Throws: When the folder cannot be created or written.
    func update(_ digest: String, _ change: (QuarantineEntry?) -> QuarantineEntry) throws -> QuarantineEntry {
        try PrivateFolder.make(folder, holding: ["quarantine"])
        try PrivateFolder.make(path, holding: Set(names))
        return try locked {
            let entry = change(entry(digest))
            try write([UInt8](JSONEncoder().encode(entry)), to: "\(digest).json")
            if entry.isQuarantined { for prefix in entry.prefixes { try write([], to: "\(prefix).prefix") } }
            dropOldest()
            return entry
        }
    }

    /// Removes entries, and the prefix files that no other entry needs.
    func remove(_ digests: [String]) throws {
        guard unsafe access(path, F_OK) == 0 else { return }
        try locked { removeUnlocked(digests) }
    }

    // MARK: Files

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

    /// Nil for a file that is not a valid entry, such as one cut off by a full disk.
    private func read(_ name: String) -> QuarantineEntry? {
        guard let data = FileManager.default.contents(atPath: "\(path)/\(name)"),
            let entry = try? ForeignJSON.decode(QuarantineEntry.self, from: data), name == "\(entry.digest).json"
        else { return nil }
        return entry
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        // Only the holder of the lock writes, so one temporary name is enough.
        let working = "\(path)/new"
        try Data(bytes).write(to: URL(fileURLWithPath: working))
        guard unsafe rename(working, "\(path)/\(name)") == 0 else { throw OutputErrors.error(errno) }
    }

    private func removeUnlocked(_ digests: [String]) {
        for digest in digests { unsafe unlink("\(path)/\(digest).json") }
        let needed = Set(entries().flatMap(\.prefixes))
        for name in names where name.hasSuffix(".prefix") && !needed.contains(String(name.dropLast(7))) {
            unsafe unlink("\(path)/\(name)")
        }
    }

    /// Limits the number of entries: those with the oldest last strike are removed first.
    private func dropOldest() {
        guard names.count(where: { $0.hasSuffix(".json") }) > entriesMax else { return }
        let oldest = entries().sorted { $0.lastDate < $1.lastDate }
        let surplus = oldest.count - entriesMax + entriesMax / 10
        removeUnlocked(oldest.prefix(surplus).map(\.digest))
    }

    private func locked<Result>(_ body: () throws -> Result) throws -> Result {
        let lock = unsafe open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw OutputErrors.error(errno) }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 { guard errno == EINTR else { throw OutputErrors.error(errno) } }
        return try body()
    }
}

/// The folder for data that must outlive a command.
public enum DefaultDataFolder {
    /// `$XDG_STATE_HOME/attachprep`, else `~/.local/state/attachprep`; nil without a home folder.
    ///
    /// Source: XDG Base Directory Specification, which requires relative paths to be ignored.
    public static var path: String? { path(environment: ProcessInfo.processInfo.environment) }

    /// The same for a given environment. Pure.
    package static func path(environment: [String: String]) -> String? {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return "\(state)/attachprep" }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return "\(home)/.local/state/attachprep"
    }
}
