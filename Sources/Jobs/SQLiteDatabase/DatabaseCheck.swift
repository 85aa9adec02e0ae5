import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import GRDB
import Glibc
import MediaTypes
import SafeArithmetic

/// Checks a database before it is opened for writing: a damaged one, or one of another program, is not changed.
struct DatabaseCheck {
    /// `application_id` in the file header, which identifies the database: "ATPR".
    static let applicationID = 0x4154_5052
    /// Larger databases are not checked page by page at each start, because that takes seconds.
    private static let checkedBytesMax = 64_000_000

    let path: String
    /// Whether the pages are checked too: for the service, not for every command.
    let isThorough: Bool

    /// - Throws: `queue.unavailable`, which names the file and the remedy.
    func run() throws {
        let bytes = try size()
        guard bytes > 0 else { return }
        try checkBeginning()
        do {
            var configuration = GRDB.Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(SQLiteDatabase.busySeconds)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.read { try examine($0, checksPages: isThorough && bytes <= Self.checkedBytesMax) }
            try queue.close()
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: throw damagedError("\(error)")
            default: throw SQLiteErrors.attachPrepError(error)
            }
        }
    }

    private func size() throws -> Int {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw DataFolder.unusableError(path, errno) }
        return Int(clamping: status.st_size)
    }

    /// Checks the header string (SQLite, "Database File Format", section 1.3).
    private func checkBeginning() throws {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DataFolder.unusableError(path, errno) }
        defer { close(descriptor) }
        let magic = Array("SQLite format 3\0".utf8)
        var found = [UInt8](repeating: 0, count: magic.count)
        let count = unsafe found.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        guard count == magic.count, found == magic else { throw damagedError("the SQLite header is missing") }
    }

    private func examine(_ database: Database, checksPages: Bool) throws {
        let application = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        guard tables == 0 || application == Self.applicationID else {
            throw AttachPrepError(
                .queueUnavailable, "\(path) is another program's database; choose another --data.",
                isRetryable: false)
        }
        guard checksPages else { return }
        let finding = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
        guard finding == "ok" else { throw damagedError(finding ?? "no answer") }
    }

    private func damagedError(_ detail: String) -> AttachPrepError {
        AttachPrepError(
            .queueUnavailable,
            "\(path) is damaged and was not changed; restore a backup, or move it away to start with an empty queue.",
            detail: detail, isRetryable: false)
    }
}
