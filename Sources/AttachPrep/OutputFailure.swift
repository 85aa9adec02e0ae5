import Glibc
import RichPush

/// What a refused write means to the caller.
enum OutputFailure {
    /// `output.no_space` on a full disk or quota, else `output.not_writable`.
    static func error(_ code: CInt) -> AttachPrepError {
        let detail = unsafe String(cString: strerror(code))
        return switch code {
        case ENOSPC, EDQUOT, EFBIG:
            AttachPrepError(
                .outputNoSpace, "The output disk is full; free some space and try again.", detail: detail)
        default:
            AttachPrepError(
                .outputNotWritable, "The output folder cannot be written to; choose another one.",
                detail: detail)
        }
    }
}
