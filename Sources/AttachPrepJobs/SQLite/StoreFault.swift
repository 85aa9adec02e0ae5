import GRDB
import Glibc
import RichPush

/// What a database's refusal means to the caller.
enum StoreFault {
    static func error(_ error: any Error) -> any Error {
        guard let fault = error as? DatabaseError else { return error }
        return AttachPrepError(.queueUnavailable, sentence(fault), detail: "\(fault)")
    }

    /// A sentence without library text and without paths.
    private static func sentence(_ fault: DatabaseError) -> String {
        switch fault.resultCode {
        case .SQLITE_FULL: "The disk of the data folder is full; free some space."
        case .SQLITE_READONLY: "The data folder cannot be written to; check its disk and its rights."
        case .SQLITE_IOERR: "The data folder's disk fails or is full; check it."
        case .SQLITE_BUSY, .SQLITE_LOCKED: "Another process holds the job database; try again."
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            "The job database is damaged; stop the service and put a copy in its place."
        case .SQLITE_CANTOPEN: "The job database cannot be opened; check the data folder."
        default: "The job database does not work; see the log."
        }
    }

    /// A file of the data folder could not be made, moved or removed.
    static func file(_ code: CInt) -> AttachPrepError {
        let detail = unsafe String(cString: strerror(code))
        return switch code {
        case ENOSPC, EDQUOT, EFBIG:
            AttachPrepError(.outputNoSpace, "The disk of the data folder is full; free some space.", detail: detail)
        default:
            AttachPrepError(
                .outputNotWritable, "The data folder cannot be written to; check its disk and its rights.",
                detail: detail)
        }
    }

    /// A row that none of our versions wrote.
    static func unreadable(_ what: String, _ error: (any Error)? = nil) -> AttachPrepError {
        AttachPrepError(
            .queueUnavailable, "The job database holds \(what) that cannot be read.", detail: error.map { "\($0)" })
    }
}
