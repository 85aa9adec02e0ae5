public import AttachPrepJobs
import AttachPrepModel
public import FoundationEssentials
package import GRDB
import RichPush
import SafeArithmetic

extension SQLiteStore: JobCatalog {
    public func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage {
        let query = try CatalogQuery(filter, after: cursor, limit: limit)
        return try query.page(await read(query.records))
    }

    public func count(_ filter: JobFilter) async throws -> Int {
        let selection = try JobSelection(filter)
        return try await read { try CatalogQuery.count(selection, $0) }
    }

    public func counts() async throws -> JobCounts {
        let now = clock.wall().milliseconds
        return try await read { try CatalogQuery.counts($0, at: now) }
    }

    public func pace(until end: Date) async throws -> JobPace {
        try await read { try PaceQuery.pace($0, until: end) }
    }
}

/// The query for one page of jobs.
package struct CatalogQuery: Sendable {
    private var selection: JobSelection
    private let count: Int

    package init(_ filter: JobFilter, after cursor: JobID?, limit: Int) throws {
        selection = try JobSelection(filter)
        if let cursor { selection.add("uuid < ?", cursor.text) }
        count = max(0, limit)
    }

    /// Returns one record more than the page holds, to know whether there is a next page.
    ///
    /// Queries each state separately and merges the results, so that an index serves each query whatever the number of
    /// other jobs.
    package func records(_ database: Database) throws -> [JobRecord] {
        guard let states = selection.states else { return try latest("1", database) }
        let found = try states.flatMap { try latest("state = '\($0.rawValue)'", database) }
        return Array(found.sorted { $0.uuid > $1.uuid }.prefix(count.adding(clamping: 1)))
    }

    private func latest(_ state: String, _ database: Database) throws -> [JobRecord] {
        let chosen =
            "FROM job WHERE \(state) AND \(selection.condition) ORDER BY uuid DESC LIMIT \(count.adding(clamping: 1))"
        // A search scans the covering index and reads only the rows of its matches.
        let sql =
            selection.filtersByText
            ? "SELECT \(JobRecord.columns) FROM job WHERE uuid IN (SELECT uuid \(chosen))"
            : "SELECT \(JobRecord.columns) \(chosen)"
        return try StoredRow.fetchAll(database, sql: sql, arguments: StatementArguments(selection.arguments))
            .map(JobRecord.init)
    }

    package func page(_ records: [JobRecord]) throws -> JobPage {
        let jobs = try records.prefix(count).map { try $0.job() }
        return JobPage(jobs: jobs, next: records.count > count ? jobs.last?.id : nil)
    }
}

extension CatalogQuery {
    package static func count(_ selection: JobSelection, _ database: Database) throws -> Int {
        let states = selection.states.map { $0.map { "state = '\($0.rawValue)'" } } ?? ["1"]
        return try states.reduce(0) { sum, state in
            let sql = "SELECT count(*) FROM job WHERE \(state) AND \(selection.condition)"
            return sum.adding(
                clamping: try Int.fetchOne(
                    database, sql: sql, arguments: StatementArguments(selection.arguments)) ?? 0)
        }
    }

    /// Returns when the next queued job becomes due that is not due yet.
    package static func nextDue(_ database: Database, after now: Int64) throws -> Date? {
        let next = try (0..<3).compactMap { lane in
            try database.number(
                """
                SELECT min(due_at) FROM job INDEXED BY job_queued
                WHERE state = 'queued' AND parked = 0 AND lane = ? AND due_at > ?
                """, [lane, now])
        }
        return next.min().map { Date(milliseconds: $0) }
    }

    package static func counts(_ database: Database, at now: Int64) throws -> JobCounts {
        var byState = Dictionary(uniqueKeysWithValues: JobState.allCases.map { ($0, 0) })
        for row in try database.rows("SELECT name, number FROM tally") {
            if let state = JobState(rawValue: row[0]) { byState[state] = row[1] }
        }
        var byError: [ErrorCode: Int] = [:]
        let errors = try database.rows(
            """
            SELECT error_code, count(*) FROM job INDEXED BY job_error
            WHERE state IN ('failed', 'dead') AND error_code IS NOT NULL GROUP BY error_code
            """)
        for row in errors { if let code = ErrorCode(rawValue: row[0]) { byError[code] = row[1] } }
        let due = try DueJobs(database, at: now)
        return JobCounts(
            byState: byState, byError: byError, due: due.count, oldestDue: due.oldest.map { Date(milliseconds: $0) })
    }
}

/// The jobs that are due, counted in their indexes.
private struct DueJobs {
    var count = 0
    var oldest: Int64?

    init(_ database: Database, at now: Int64) throws {
        let lanes = (0..<3).map { ("job_queued", "parked = 0 AND lane = \($0)") }
        let parked = [
            ("job_host_parked", "parked = 1"), ("job_key_parked", "parked = 2"), ("job_owner_parked", "parked = 3"),
        ]
        for (index, source) in lanes + parked {
            let row = try database.row(
                """
                SELECT count(*), min(due_at) FROM job INDEXED BY \(index)
                WHERE state = 'queued' AND \(source) AND due_at <= ?
                """, [now])
            guard let row, let found: Int64 = row[1] else { continue }
            count = count.adding(clamping: row[0] as Int)
            oldest = min(oldest ?? found, found)
        }
    }
}

/// A filter as the SQL condition of a `WHERE` clause over jobs, without their states.
package struct JobSelection: Sendable {
    package private(set) var condition = "1"
    package private(set) var arguments: [(any DatabaseValueConvertible & Sendable)?] = []
    /// Each state is queried separately, because the index is sorted by state first.
    package let states: [JobState]?

    /// Whether it filters by texts, which the index `job_state` contains.
    package let filtersByText: Bool

    /// - Parameter states: restricts the filter to these states; nil does not.
    package init(_ filter: JobFilter, among states: [JobState]? = nil) throws {
        filtersByText = filter.search?.isEmpty == false || filter.errors != nil
        let possible = filter.errors == nil ? states : (states ?? JobState.allCases).filter { $0.isError }
        let wanted = (possible ?? JobState.allCases).filter { filter.states?.contains($0) ?? true }
        self.states = possible == nil && filter.states == nil && !filtersByText ? nil : wanted
        if let errors = filter.errors {
            add("error_code IN (SELECT value FROM json_each(?))", try StoredJSON.text(errors.map(\.rawValue)))
        }
        if let ids = filter.ids {
            add("uuid IN (SELECT value FROM json_each(?))", try StoredJSON.text(ids))
        }
        if let date = filter.createdBefore { add("created_at < ?", date.milliseconds) }
        if let date = filter.createdAfter { add("created_at >= ?", date.milliseconds) }
        if let kind = filter.kind { add("json_extract(result, '$.attachment.kind') = ?", kind.rawValue) }
        if let worker = filter.worker { add("state = 'running' AND worker = ?", worker) }
        if let search = filter.search, !search.isEmpty {
            let pattern = "%\(Self.escaped(search))%"
            let columns = ["uuid", "caller_id", "source", "error_code"]
            let parts = columns.map { "\($0) LIKE ? ESCAPE '\\'" }
            condition += " AND (\(parts.joined(separator: " OR ")))"
            arguments += columns.map { _ in pattern }
        }
    }

    package mutating func add(_ part: String, _ argument: any DatabaseValueConvertible & Sendable) {
        condition += " AND \(part)"
        arguments.append(argument)
    }

    /// Escapes the wildcards of LIKE.
    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { $0 += "%_\\".contains($1) ? "\\\($1)" : "\($1)" }
    }
}

extension JobState {
    /// Whether jobs in this state have an error code.
    fileprivate var isError: Bool { self == .failed || self == .dead }
}

/// Queries how jobs ended in an hour. Used by both drivers.
package enum PaceQuery {
    private static let minute: Int64 = 60_000

    package static func pace(_ database: Database, until end: Date) throws -> JobPace {
        var pace = JobPace(until: end)
        let start = end.milliseconds.subtracting(clamping: Int64(JobPace.minutesCount) * minute)
        for state in [JobState.succeeded, .failed, .dead] {
            // One query per minute sorts a sixtieth of the rows for GROUP BY, which takes two thirds of the time of one
            // query.
            for index in pace.minutes.indices {
                let from = start.adding(clamping: Int64(index) * minute)
                for row in try database.rows(sql, [state.rawValue, from, from.adding(clamping: minute)]) {
                    pace.minutes[index].record(row[1], endedAs: state, inBucket: row[0])
                }
            }
        }
        return pace
    }

    /// `LIMIT -1` keeps SQLite from flattening the subquery, so that it computes each duration once, not for each
    /// comparison.
    private static let sql = """
        SELECT \(span(0, LatencyHistogram.boundsMilliseconds.count)) AS span, count(*) FROM (
            SELECT finished_at - max(created_at, coalesce(not_before, created_at)) AS duration
            FROM job INDEXED BY job_finished WHERE state = ?1 AND finished_at >= ?2 AND finished_at < ?3
            LIMIT -1 OFFSET 0
        ) GROUP BY span
        """

    /// The SQL of a binary search for a duration's bucket.
    private static func span(_ first: Int, _ last: Int) -> String {
        guard first < last else { return "\(first)" }
        let middle = (first + last) / 2
        let bound = LatencyHistogram.boundsMilliseconds[middle]
        return "CASE WHEN duration < \(bound) THEN \(span(first, middle)) ELSE \(span(middle + 1, last)) END"
    }
}

extension JobPace.Minute {
    fileprivate mutating func record(_ count: Int, endedAs state: JobState, inBucket bucket: Int) {
        if state == .succeeded {
            succeeded = succeeded.adding(clamping: count)
        } else {
            failed = failed.adding(clamping: count)
        }
        latencies.add(count, inBucket: bucket)
    }
}
