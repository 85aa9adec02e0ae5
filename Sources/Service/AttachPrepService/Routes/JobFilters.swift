import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
package import MediaTypes
import SafeArithmetic

extension QueryParameters {
    /// The text to search for; nil if it is missing or empty.
    ///
    /// - Throws: `request.invalid`.
    func search() throws -> String? {
        let search = try value("search")
        guard search.map({ $0.count <= Limits.searchCharactersMax && !$0.contains("\0") }) ?? true else {
            throw AttachPrepError(
                .requestInvalid,
                "The query parameter \"search\" exceeds \(Limits.searchCharactersMax) characters or contains NUL.")
        }
        return search?.isEmpty == true ? nil : search
    }
}

extension JobFilter {
    /// The query parameters that select jobs.
    static let queryNames: Set = [
        "state", "error", "kind", "worker", "createdAfter", "createdBefore", "search", "callerID", "batch",
        "idempotencyKey", "tag", "host",
    ]

    /// - Throws: `request.invalid`.
    init(_ query: QueryParameters) throws {
        self.init(
            states: try query.choices("state", JobState.self), search: try query.search(),
            createdBefore: try query.time("createdBefore"), errors: try query.choices("error", ErrorCode.self),
            createdAfter: try query.time("createdAfter"), kind: try query.choice("kind", MediaKind.self),
            worker: try query.name("worker") { name in
                1...Limits.workerNameCharactersMax ~= name.count && !name.contains("\0") ? name : nil
            })
        try setWords(
            callerID: query.value("callerID"), batch: query.value("batch"),
            idempotencyKey: query.value("idempotencyKey"), tags: query.words("tag"), host: query.value("host"))
    }

    /// Sets the exact filters by words that callers chose.
    ///
    /// - Throws: `request.invalid`.
    fileprivate mutating func setWords(
        callerID: String?, batch: String?, idempotencyKey: String?, tags: [String]?, host: String?
    ) throws {
        for (name, value) in [("callerID", callerID), ("batch", batch), ("idempotencyKey", idempotencyKey)] {
            guard let value else { continue }
            guard 1...Limits.wordCharactersMax ~= value.count, !value.contains("\0") else {
                throw AttachPrepError(
                    .requestInvalid,
                    "\"\(name)\" must be 1 to \(Limits.wordCharactersMax) characters without NUL.")
            }
        }
        (self.callerID, self.batch, self.idempotencyKey) = (callerID, batch, idempotencyKey)
        guard tags?.allSatisfy(JobOptions.isTag) ?? true, 1...Limits.jobTagsMax ~= tags?.count ?? 1 else {
            throw AttachPrepError(
                .requestInvalid,
                "\"tag\" must be 1 to \(Limits.jobTagsMax) tags of at most \(Limits.jobTagCharactersMax) visible ASCII "
                    + "characters without comma.")
        }
        self.tags = tags ?? []
        self.host = try host.map(PauseTarget.hostName)
    }
}

/// Selects jobs for a bulk operation; all given conditions must match.
struct JobFilterBody: JSONRequest {
    static let keys: Set = [
        "states", "ids", "search", "createdBefore", "createdAfter", "error", "callerID", "batch", "idempotencyKey",
        "tag", "host",
    ]

    let states: [JobState]?
    let ids: [JobID]?
    let search: String?
    let createdBefore: String?
    let createdAfter: String?
    let error: ErrorCodes?
    let callerID: String?
    let batch: String?
    let idempotencyKey: String?
    let tag: Words?
    let host: String?

    /// - Throws: `request.invalid`, `request.too_large`.
    func filter() throws -> JobFilter {
        guard selectsSome else {
            throw AttachPrepError(
                .requestInvalid,
                "Set at least one of \(Self.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")); selecting all "
                    + "jobs is not allowed.")
        }
        guard (ids?.count ?? 0) <= Limits.selectedIDsMax else {
            throw AttachPrepError(
                .requestTooLarge, "More than \(Limits.selectedIDsMax) \"ids\"; send several requests.")
        }
        guard search.map({ 1...Limits.searchCharactersMax ~= $0.count && !$0.contains("\0") }) ?? true else {
            throw AttachPrepError(
                .requestInvalid,
                "\"search\" must be 1 to \(Limits.searchCharactersMax) characters without NUL.")
        }
        var filter = JobFilter(
            states: states.map(Set.init), search: search, ids: ids,
            createdBefore: try Self.time(createdBefore, name: "createdBefore"), errors: error?.all,
            createdAfter: try Self.time(createdAfter, name: "createdAfter"))
        try filter.setWords(
            callerID: callerID, batch: batch, idempotencyKey: idempotencyKey, tags: tag?.all, host: host)
        return filter
    }

    private var selectsSome: Bool {
        let words = [search, createdBefore, createdAfter, callerID, batch, idempotencyKey, host]
        return states != nil || ids != nil || error != nil || tag != nil || words.contains { $0 != nil }
    }

    private static func time(_ text: String?, name: String) throws -> Date? {
        guard let text else { return nil }
        guard let date = Timestamp.date(text) else {
            throw AttachPrepError(
                .requestInvalid, "\"\(name)\" must be an RFC 3339 time such as 2026-11-21T20:51:02Z.")
        }
        return date
    }
}

/// Selects queued jobs, and their new priority.
struct JobPriorityBody: JSONRequest {
    static let keys = JobFilterBody.keys.union(["priority"])

    let selection: JobFilterBody
    let priority: JobPriority

    private enum CodingKeys: String, CodingKey {
        case priority
    }

    init(from decoder: any Decoder) throws {
        selection = try JobFilterBody(from: decoder)
        priority = try decoder.container(keyedBy: CodingKeys.self).decode(JobPriority.self, forKey: .priority)
    }
}

/// One word or a list of words.
struct Words: Decodable {
    let all: [String]

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let one = try? value.decode(String.self) {
            all = [one]
        } else {
            all = try value.decode([String].self)
        }
    }
}

/// One error code or a list of error codes.
struct ErrorCodes: Decodable {
    let all: Set<ErrorCode>

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        // A string is one code, known or not; anything else is decoded, or rejected, as a list.
        let isOne = (try? value.decode(String.self)) != nil
        all = isOne ? [try value.decode(ErrorCode.self)] : Set(try value.decode([ErrorCode].self))
    }
}

extension Limits {
    /// Characters of a search: longer than any word in names and URLs of jobs.
    package static let searchCharactersMax = 200
    /// Characters of an exact filter: the longest idempotency key.
    static let wordCharactersMax = 255
    /// IDs in one request: with them, its body is below 64 KB.
    static let selectedIDsMax = 1_000
    /// Characters of a worker's name: the longest host name, and a process ID.
    static let workerNameCharactersMax = 300
}
