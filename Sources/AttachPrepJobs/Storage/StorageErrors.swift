package import AttachPrepModel
import Glibc
import RichPush

/// Converts errors of the data folder to `AttachPrepError`.
package enum StorageErrors {
    /// The error for a file of the data folder that could not be created, moved or removed.
    package static func file(_ code: CInt) -> AttachPrepError {
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
    package static func unreadable(_ what: String, _ error: (any Error)? = nil) -> AttachPrepError {
        AttachPrepError(
            .queueUnavailable, "The job database holds \(what) that cannot be read.", detail: error.map { "\($0)" })
    }
}
