import AttachPrep
import AttachPrepJobs
import RichPush

/// Which finished jobs are to go; what is given has to hold all at once.
struct PurgeOrder: JSONOrder {
    static let keys: Set = ["states", "ids", "search", "createdBefore"]

    let states: [JobState]?
    let ids: [JobID]?
    let search: String?
    let createdBefore: String?

    /// - Throws: `request.invalid`.
    func filter() throws -> JobFilter {
        guard states != nil || ids != nil || search != nil || createdBefore != nil else {
            throw AttachPrepError(
                .requestInvalid, "Name states, ids, search or createdBefore: all jobs at once is not meant.")
        }
        if let open = states?.first(where: { !$0.isFinished }) {
            throw AttachPrepError(
                .requestInvalid, "Jobs in the state \(open.rawValue) are not removed; cancel them first.")
        }
        guard (ids?.count ?? 0) <= Limits.batchRequestsMax else {
            throw AttachPrepError(.requestTooLarge, "There are more than \(Limits.batchRequestsMax) ids.")
        }
        guard search.map({ 1...Limits.searchCharactersMax ~= $0.count && !$0.contains("\0") }) ?? true else {
            throw AttachPrepError(
                .requestInvalid, "\"search\" is empty, has over \(Limits.searchCharactersMax) characters, or a zero.")
        }
        let before = try createdBefore.map { text in
            guard let date = Timestamp.date(text) else {
                throw AttachPrepError(
                    .requestInvalid, "\"createdBefore\" is no RFC 3339 time; write it as 2026-11-21T20:51:02Z.")
            }
            return date
        }
        return JobFilter(states: states.map(Set.init), search: search, ids: ids, createdBefore: before)
    }
}
