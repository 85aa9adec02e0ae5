import AttachPrepJobs
import RichPush

/// Which finished jobs are to go.
struct PurgeOrder: JSONOrder {
    static let keys = JobChoice.keys

    private let choice: JobChoice

    init(from decoder: any Decoder) throws {
        choice = try JobChoice(from: decoder)
    }

    /// - Throws: `request.invalid`, `request.too_large`.
    func filter() throws -> JobFilter {
        if let open = choice.states?.first(where: { !$0.isFinished }) {
            throw AttachPrepError(
                .requestInvalid, "Jobs in the state \(open.rawValue) are not removed; cancel them first.")
        }
        return try choice.filter()
    }
}
