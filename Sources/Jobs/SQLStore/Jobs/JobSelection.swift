import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import MediaTypes

/// A filter as SQL conditions over one of the job tables.
struct JobSelection: Sendable {
    private let filter: JobFilter
    /// Each state is queried separately, because the indexes are sorted by state first.
    let states: [JobState]

    /// - Parameter states: restricts the filter to these states.
    init(_ filter: JobFilter, among states: [JobState] = JobState.allCases) {
        self.filter = filter
        self.states = states.filter { state in
            let isWanted = filter.states?.contains(state) ?? true
            // Only jobs that failed have an error code, and only running ones are a worker's.
            let canMatch = filter.errors == nil || state == .failed || state == .dead
            return isWanted && canMatch && (filter.worker == nil || state == .running)
        }
    }

    /// Whether it selects every job of its states.
    var isWhole: Bool {
        var other = filter
        other.states = nil
        return other == JobFilter()
    }

    /// The condition for the jobs of a state, in the table of that state.
    func condition(for state: JobState, _ dialect: SQLDialect) -> SQLCondition {
        var condition = SQLCondition("state = '\(state.rawValue)'")
        if let errors = filter.errors { condition.add("error_code", among: errors.map(\.rawValue), dialect) }
        if let ids = filter.ids { condition.add("id", among: ids.map(\.text), dialect) }
        for (date, sign) in [(filter.createdBefore, "<"), (filter.createdAfter, ">=")] {
            guard let date else { continue }
            condition.add("created_at \(sign) \(condition.parameter(.integer(date.milliseconds)))")
        }
        if let kind = filter.kind {
            condition.add(state.isFinished ? "kind = \(condition.parameter(.text(kind.rawValue)))" : "1 = 0")
        }
        if let worker = filter.worker { condition.add("worker = \(condition.parameter(.text(worker)))") }
        for (column, value) in [
            ("caller_id", filter.callerID), ("batch", filter.batch), ("idempotency_key", filter.idempotencyKey),
        ] {
            guard let value else { continue }
            condition.add("\(column) = \(condition.parameter(.text(value)))")
        }
        for tag in filter.tags {
            condition.add("id IN (SELECT job FROM job_tag WHERE tag = \(condition.parameter(.text(tag))))")
        }
        if let host = filter.host {
            condition.add(Self.hostCondition(host, in: &condition, dialect: dialect))
        }
        if let search = filter.search, !search.isEmpty {
            // Both databases fold the case of ASCII letters only.
            let pattern = condition.parameter(.text(Self.pattern(search)))
            let parts = ["id", "caller_id", "source", "error_code"].map {
                "lower(\($0)) LIKE lower(\(pattern)) ESCAPE '\\'"
            }
            condition.add("(\(parts.joined(separator: " OR ")))")
        }
        return condition
    }

    /// The condition for jobs of a host.
    static func hostCondition(_ host: String, in condition: inout SQLCondition, dialect: SQLDialect) -> String {
        "\(dialect.hostOfGroup) = \(condition.parameter(.text(host)))"
    }

    /// The pattern of LIKE for texts that contain a text.
    static func pattern(_ text: String) -> String { "%\(escaped(text))%" }

    /// Escapes the wildcards of LIKE.
    private static func escaped(_ text: String) -> String {
        let escaped = text.utf8.flatMap { byte in
            "%_\\".utf8.contains(byte) ? [UInt8(ascii: "\\"), byte] : [byte]
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}

extension JobState {
    /// The table that holds jobs in this state.
    var table: String { isFinished ? "finished_job" : "job" }

    /// The columns of `JobRecord` in that table.
    var columns: String { isFinished ? JobRecord.finishedColumns : JobRecord.liveColumns }
}
