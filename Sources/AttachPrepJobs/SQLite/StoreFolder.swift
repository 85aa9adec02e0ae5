import AttachPrep
import Glibc
import RichPush

/// Where a store keeps what: one folder, for its owner alone.
struct StoreFolder: Sendable {
    let path: String

    var database: String { "\(path)/jobs.sqlite" }
    var lock: String { "\(path)/jobs.lock" }
    var content: String { "\(path)/content" }
    var uploads: String { "\(path)/uploads" }

    /// Makes what is not there, and those above it.
    ///
    /// - Throws: `queue.unavailable`.
    func make() throws {
        try makePath()
        for folder in [content, uploads] { try Self.makeFolder(folder) }
    }

    /// The folder itself, and those above it.
    ///
    /// - Throws: `queue.unavailable`.
    func makePath() throws {
        do {
            try PrivateFolder.make(path, holding: Self.names)
        } catch {
            throw Self.refusal(error.path, error.code)
        }
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else { throw Self.refusal(path, errno) }
    }

    /// What stands in a data folder, and in what a machine keeps of a queue on servers.
    private static let names: Set<String> = [
        "jobs.sqlite", "jobs.sqlite-wal", "jobs.sqlite-shm", "jobs.sqlite-journal", "jobs.lock", "content", "uploads",
        "work", "quarantine", "receipt.key", "nats", "mirror.sqlite", "mirror.sqlite-wal", "mirror.sqlite-shm",
    ]

    private static func makeFolder(_ path: String) throws {
        guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        let code = errno
        // On a read-only disk this is said of folders that are there, too.
        guard unsafe access(path, F_OK) == 0 else { throw refusal(path, code) }
    }

    /// The database's file, empty and for its owner alone; SQLite gives its companions the same rights.
    func makeDatabaseFile() throws {
        let descriptor = unsafe open(database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.refusal(database, errno) }
        close(descriptor)
    }

    var hasDatabase: Bool { unsafe access(database, F_OK) == 0 }

    /// What only who started us is told: with the path.
    static func refusal(_ path: String, _ code: CInt) -> AttachPrepError {
        let reason = unsafe String(cString: strerror(code))
        return AttachPrepError(
            .queueUnavailable, "The data folder cannot be used: \(path): \(reason); choose another --state.",
            isRetryable: false)
    }
}
