import AttachPrepJobs
import RichPush

/// Which jobs are to run again.
struct RetryOrder: JSONOrder {
    static let keys = JobChoice.keys

    private let choice: JobChoice

    init(from decoder: any Decoder) throws {
        choice = try JobChoice(from: decoder)
    }

    /// - Throws: `request.invalid`, `request.too_large`.
    func filter() throws -> JobFilter {
        if let other = choice.states?.first(where: { !$0.isRetryable }) {
            throw AttachPrepError(
                .requestInvalid,
                "Jobs in the state \(other.rawValue) are not run again; those that failed, are dead or were cancelled "
                    + "are.")
        }
        return try choice.filter()
    }
}
