import Glibc
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Quarantine entries on disk, one small file each, shared by all processes of one state folder.
///
/// Files appear by rename, so that a reader needs no lock; writers hold one, so that no strike is lost.
struct QuarantineFolder: Sendable {
    private let state: String
    private let path: String
    private let entriesMax: Int

    /// - Parameter state: the state folder; it is made with the first entry.
    init(state: String, entriesMax: Int = Limits.quarantineEntriesMax) {
        self.state = state
        path = "\(state)/quarantine"
        self.entriesMax = entriesMax
    }

    /// The entry of a digest; nil when there is none that can be read.
    func entry(_ digest: String) -> QuarantineEntry? {
        // Nearly always there is none, which is quickly said.
        unsafe access("\(path)/\(digest).json", F_OK) == 0 ? read("\(digest).json") : nil
    }

    /// Whether the content of an entry begins so.
    func hasPrefix(_ digest: String) -> Bool {
        unsafe access("\(path)/\(digest).prefix", F_OK) == 0
    }

    /// All entries.
    func entries() -> [QuarantineEntry] {
        names.filter { $0.hasSuffix(".json") }.compactMap(read)
    }

    /// Changes one entry while no other process does; an entry without strikes is removed.
    ///
    /// - Throws: when the folder cannot be made or written.
    func update(_ digest: String, _ change: (QuarantineEntry?) -> QuarantineEntry) throws -> QuarantineEntry {
        try PrivateFolder.make(state, holding: ["quarantine"])
        try PrivateFolder.make(path, holding: Set(names))
        return try locked {
            let entry = change(entry(digest))
            try write([UInt8](JSONEncoder().encode(entry)), to: "\(digest).json")
            if entry.isQuarantined { for prefix in entry.prefixes { try write([], to: "\(prefix).prefix") } }
            dropOldest()
            return entry
        }
    }

    /// Removes entries, and what only they needed.
    func remove(_ digests: [String]) throws {
        guard unsafe access(path, F_OK) == 0 else { return }
        try locked { removeUnlocked(digests) }
    }

    // MARK: Files

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

    /// A file of another hand, or of a disk that was full, is no entry.
    private func read(_ name: String) -> QuarantineEntry? {
        guard let data = FileManager.default.contents(atPath: "\(path)/\(name)"),
            let entry = try? JSONDecoder().decode(QuarantineEntry.self, from: data), name == "\(entry.digest).json"
        else { return nil }
        return entry
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        // Only who holds the lock writes, so one name is enough.
        let working = "\(path)/new"
        try Data(bytes).write(to: URL(fileURLWithPath: working))
        guard unsafe rename(working, "\(path)/\(name)") == 0 else { throw OutputFailure.error(errno) }
    }

    private func removeUnlocked(_ digests: [String]) {
        for digest in digests { unsafe unlink("\(path)/\(digest).json") }
        let needed = Set(entries().flatMap(\.prefixes))
        for name in names where name.hasSuffix(".prefix") && !needed.contains(String(name.dropLast(7))) {
            unsafe unlink("\(path)/\(name)")
        }
    }

    /// Keeps the folder small: those whose last strike is the longest ago go first.
    private func dropOldest() {
        guard names.count(where: { $0.hasSuffix(".json") }) > entriesMax else { return }
        let oldest = entries().sorted { $0.lastDate < $1.lastDate }
        // Bounded: a count of files, and a limit.
        let surplus = oldest.count - entriesMax + entriesMax / 10
        removeUnlocked(oldest.prefix(surplus).map(\.digest))
    }

    private func locked<Result>(_ body: () throws -> Result) throws -> Result {
        let lock = unsafe open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw OutputFailure.error(errno) }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 { guard errno == EINTR else { throw OutputFailure.error(errno) } }
        return try body()
    }
}
