import AttachPrep
import AttachPrepJobs
import RichPush

/// Which jobs something is done to; what is given has to hold all at once.
struct JobChoice: Decodable {
    static let keys: Set = ["states", "ids", "search", "createdBefore", "error"]

    let states: [JobState]?
    let ids: [JobID]?
    let search: String?
    let createdBefore: String?
    let error: ErrorCodes?

    /// - Throws: `request.invalid`, `request.too_large`.
    func filter() throws -> JobFilter {
        guard states != nil || ids != nil || search != nil || createdBefore != nil || error != nil else {
            throw AttachPrepError(
                .requestInvalid, "Name states, ids, search, error or createdBefore: all jobs at once is not meant.")
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
        return JobFilter(
            states: states.map(Set.init), search: search, ids: ids, createdBefore: before, errors: error?.all)
    }
}

/// A code, or a list of them.
struct ErrorCodes: Decodable {
    let all: Set<ErrorCode>

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let one = try? value.decode(ErrorCode.self) {
            all = [one]
        } else {
            all = Set(try value.decode([ErrorCode].self))
        }
    }
}
