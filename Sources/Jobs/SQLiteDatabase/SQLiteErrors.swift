import AttachPrepJobs
import AttachPrepModel
import GRDB
import MediaTypes
import SQLStore

/// Converts errors of SQLite; every other error stays unchanged.
enum SQLiteErrors {
    static func error(_ error: any Error) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        return SQLError(kind(error), sentence(error), detail: "\(error)")
    }

    static func attachPrepError(_ error: any Error) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        return AttachPrepError(.queueUnavailable, sentence(error), detail: "\(error)")
    }

    private static func kind(_ error: DatabaseError) -> SQLError.Kind {
        switch error.resultCode {
        // The other changes of a group would fail as well.
        case .SQLITE_FULL, .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_CANTOPEN,
            .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_MISUSE:
            .unavailable
        default: .rejected
        }
    }

    /// A message without library text and without paths.
    private static func sentence(_ error: DatabaseError) -> String {
        switch error.resultCode {
        case .SQLITE_FULL: "The disk of the data folder is full; free some space."
        case .SQLITE_READONLY: "The data folder cannot be written to; check its disk and permissions."
        case .SQLITE_IOERR: "Reading or writing the data folder failed; check its disk for errors and free space."
        case .SQLITE_BUSY, .SQLITE_LOCKED: "Another process has locked the job database; try again."
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            "The job database is damaged; stop the service and restore a backup."
        case .SQLITE_CANTOPEN: "The job database cannot be opened; check the data folder."
        case .SQLITE_MISUSE: "The job database is closed."
        default: "The job database failed with SQLite's code \(error.extendedResultCode.rawValue); please report it."
        }
    }
}
