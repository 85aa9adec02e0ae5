package import AttachPrepModel
import Glibc
import MediaTypes

/// Converts errors of the data folder to `AttachPrepError`.
package enum StorageErrors {
    /// The error for a file of the data folder that could not be created, moved or removed.
    package static func fileError(_ code: CInt) -> AttachPrepError {
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

    package static func unreadable(_ what: String, _ error: (any Error)? = nil) -> AttachPrepError {
        AttachPrepError(
            .queueUnavailable, "The job database holds \(what) that cannot be read.", detail: error.map { "\($0)" })
    }
}

/// The errors of callers' mistakes.
extension AttachPrepError {
    package static func queueFull(_ queued: Int, limit: Int) -> AttachPrepError {
        AttachPrepError(.queueFull, "The queue has \(queued) queued jobs, and its limit is \(limit); try again later.")
    }

    package static let reusedIdempotencyKey = AttachPrepError(
        .requestConflict, "This Idempotency-Key was used with another body in the last 24 hours; use a new one.")

    /// - Parameters:
    ///   - state: the job's state; nil when there is no such job.
    ///   - what: what is not possible in that state.
    package static func stateConflict(_ id: JobID, state: JobState?, action what: String) -> AttachPrepError {
        guard let state else {
            return AttachPrepError(
                .requestNotFound, "There is no job \(id); it never existed, or was removed after its retention.")
        }
        return AttachPrepError(.requestConflict, "The job \(id) \(state.predicate), so it \(what).")
    }
}

extension JobState {
    /// The state as the predicate of a sentence about a job.
    fileprivate var predicate: String {
        switch self {
        case .queued: "is still queued"
        case .running: "is running"
        case .succeeded: "has succeeded"
        case .failed: "has failed"
        case .dead: "has ended after its last attempt failed"
        case .cancelled: "was cancelled"
        }
    }
}
