import AttachPrepJobs
import AttachPrepModel
import MediaTypes

/// Converts errors of the database for callers.
enum StoreErrors {
    /// An `AttachPrepError` for a `SQLError`; every other error unchanged.
    static func error(_ error: any Error) -> any Error {
        guard let error = error as? SQLError else { return error }
        return AttachPrepError(.queueUnavailable, error.message, detail: error.detail)
    }
}
