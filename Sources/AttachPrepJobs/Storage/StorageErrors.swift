import GRDB
import Glibc
import RichPush

/// Converts SQLite and file errors to `AttachPrepError`.
enum StorageErrors {
    static func error(_ error: any Error) -> any Error {
        guard let databaseError = error as? DatabaseError else { return error }
        return AttachPrepError(.queueUnavailable, sentence(databaseError), detail: "\(databaseError)")
    }

    /// A message without library text and without paths.
    private static func sentence(_ databaseError: DatabaseError) -> String {
        switch databaseError.resultCode {
        case .SQLITE_FULL: "The disk of the data folder is full; free some space."
        case .SQLITE_READONLY: "The data folder cannot be written to; check its disk and permissions."
        case .SQLITE_IOERR: "Reading or writing the data folder failed; check its disk for errors and free space."
        case .SQLITE_BUSY, .SQLITE_LOCKED: "Another process has locked the job database; try again."
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            "The job database is damaged; stop the service and restore a backup."
        case .SQLITE_CANTOPEN: "The job database cannot be opened; check the data folder."
        default: "The job database failed; see the log."
        }
    }

    /// The error for a file of the data folder that could not be created, moved or removed.
    static func file(_ code: CInt) -> AttachPrepError {
        let detail = unsafe String(cString: strerror(code))
        return switch code {
        case ENOSPC, EDQUOT, EFBIG:
            AttachPrepError(.outputNoSpace, "The disk of the data folder is full; free some space.", detail: detail)
        default:
            AttachPrepError(
                .outputNotWritable, "The data folder cannot be written to; check its disk and permissions.",
                detail: detail)
        }
    }

    /// The error for a row that cannot be decoded.
    static func unreadable(_ what: String, _ error: (any Error)? = nil) -> AttachPrepError {
        AttachPrepError(
            .queueUnavailable, "The job database holds \(what) that cannot be read.", detail: error.map { "\($0)" })
    }
}
