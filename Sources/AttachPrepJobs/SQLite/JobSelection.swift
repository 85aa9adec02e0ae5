import GRDB
import RichPush

/// A filter as SQL: the condition of a `WHERE` over jobs, without their states.
struct JobSelection: Sendable {
    private(set) var condition = "1"
    private(set) var arguments: [(any DatabaseValueConvertible & Sendable)?] = []
    /// Each is asked for by itself, since an index has them one after the other.
    let states: [JobState]?

    /// Whether it asks for texts that `job_state` holds, too.
    let searches: Bool

    /// - Parameter states: of these alone; nil leaves it to the filter.
    init(_ filter: JobFilter, among states: [JobState]? = nil) throws {
        searches = filter.search?.isEmpty == false || filter.errors != nil
        let possible = filter.errors == nil ? states : (states ?? JobState.allCases).filter { $0.isError }
        let wanted = (possible ?? JobState.allCases).filter { filter.states?.contains($0) ?? true }
        self.states = possible == nil && filter.states == nil && !searches ? nil : wanted
        if let errors = filter.errors {
            add("error_code IN (SELECT value FROM json_each(?))", try StoredJSON.text(errors.map(\.rawValue)))
        }
        if let ids = filter.ids {
            add("uuid IN (SELECT value FROM json_each(?))", try StoredJSON.text(ids))
        }
        if let date = filter.createdBefore { add("created_at < ?", date.milliseconds) }
        if let search = filter.search, !search.isEmpty {
            let pattern = "%\(Self.escaped(search))%"
            let columns = ["uuid", "caller_id", "source", "error_code"]
            let parts = columns.map { "\($0) LIKE ? ESCAPE '\\'" }
            condition += " AND (\(parts.joined(separator: " OR ")))"
            arguments += columns.map { _ in pattern }  // Bounded: lists, not numbers.
        }
    }

    mutating func add(_ part: String, _ argument: any DatabaseValueConvertible & Sendable) {
        condition += " AND \(part)"
        arguments.append(argument)
    }

    /// What LIKE takes for itself is taken as it is written.
    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { $0 += "%_\\".contains($1) ? "\\\($1)" : "\($1)" }
    }
}

extension JobState {
    /// Whether it says what went wrong.
    fileprivate var isError: Bool { self == .failed || self == .dead }
}
