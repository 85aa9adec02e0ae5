public import AttachPrepJobs
import AttachPrepModel
public import FoundationEssentials
import MediaTypes
import SafeArithmetic

extension SQLJobStore: JobCatalog {
    public func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage {
        let (selection, count) = (JobSelection(filter), max(0, limit))
        // One row more than the page holds tells whether there is a next page.
        let rows = try await read { connection in
            try selection.states.flatMap { state in
                try Self.latest(
                    state, selection: selection, after: cursor, limit: count.adding(clamping: 1), on: connection)
            }.sorted { $0.id > $1.id }
        }
        let jobs = try rows.prefix(count).map { try $0.job() }
        return JobPage(jobs: jobs, next: rows.count > count ? jobs.last?.id : nil)
    }

    private static func latest(
        _ state: JobState, selection: JobSelection, after cursor: JobID?, limit: Int,
        on connection: any SQLConnection
    ) throws -> [JobRecord] {
        var condition = selection.condition(for: state, connection.dialect)
        if let cursor { condition.add("id < \(condition.parameter(.text(cursor.text)))") }
        let chosen = "FROM \(state.table) WHERE \(condition.text) ORDER BY id DESC LIMIT \(limit)"
        // SQLite scans its covering index and reads only the rows of the matches.
        let sql =
            selection.isWhole
            ? "SELECT \(state.columns) \(chosen)"
            : "SELECT \(state.columns) FROM \(state.table) WHERE id IN (SELECT id \(chosen))"
        return try connection.rows(sql, condition.arguments).map(JobRecord.init)
    }

    public func count(_ filter: JobFilter) async throws -> Int {
        let selection = JobSelection(filter)
        return try await read { connection in
            if selection.isWhole {
                let counts = try WriterCounts(stored: connection)
                return selection.states.reduce(0) { $0.adding(clamping: Int(clamping: counts[$1])) }
            }
            return try selection.states.reduce(0) { sum, state in
                let condition = selection.condition(for: state, connection.dialect)
                let found = try connection.number(
                    "SELECT count(*) FROM \(state.table) WHERE \(condition.text)", condition.arguments)
                return sum.adding(clamping: Int(clamping: found ?? 0))
            }
        }
    }

    public func nextDue() async throws -> Date? {
        try await read { [self] connection in
            let now = try databaseMilliseconds(connection)
            let lanes = (0..<3).map { lane in
                SQLStatement(
                    """
                    SELECT min(place) FROM job \(connection.dialect.using("job_queued"))
                    WHERE state = 'queued' AND parked = 0 AND lane = $1 AND place > $2
                    """, [.integer(Int64(lane)), .integer(now)])
            }
            let next = try connection.run(lanes).compactMap { $0.rows.first?[0] as Int64? }
            return next.min().map { localDate($0, databaseNow: now) }
        }
    }

    public func counts() async throws -> JobCounts {
        try await read { [self] connection in
            let counts = try WriterCounts(stored: connection)
            let byState = JobState.allCases.map { ($0, max(0, Int(clamping: counts[$0]))) }
            let errors = try connection.rows(
                """
                SELECT error_code, count(*) FROM finished_job \(connection.dialect.using("finished_error"))
                WHERE state IN ('failed', 'dead') AND error_code IS NOT NULL GROUP BY error_code
                """)
            let byError = errors.compactMap { row in
                ErrorCode(rawValue: row[0]).map { ($0, row[1] as Int) }
            }
            let due = try DueJobs(connection, at: databaseMilliseconds(connection))
            return JobCounts(
                byState: Dictionary(uniqueKeysWithValues: byState),
                byError: Dictionary(byError, uniquingKeysWith: { $0.adding(clamping: $1) }), due: due.count,
                oldestDue: due.oldest.map { Date(milliseconds: $0) },
                paused: due.paused)
        }
    }

    public func pace(until end: Date) async throws -> JobPace {
        try await read { connection in
            let minutes = try PaceQuery.intervals(JobPace.minutesCount, of: 60_000, until: end, on: connection)
            return JobPace(until: end, minutes: minutes)
        }
    }

    public func history(until end: Date) async throws -> [JobPace.Interval] {
        try await read { try PaceQuery.intervals(JobPace.hoursCount, of: 3_600_000, until: end, on: $0) }
    }
}

/// The jobs that are due, counted in their indexes.
private struct DueJobs {
    var count = 0
    var oldest: Int64?
    /// The number of those that a pause holds back, which are not in `count`.
    var paused = 0

    init(_ connection: any SQLConnection, at now: Int64) throws {
        let lanes = (0..<3).map { ("job_queued", "parked = 0 AND lane = \($0)") }
        let parked = ParkingReason.allCases.map { ("job_\($0.column)_parked", "parked = \($0.rawValue)") }
        let pauses = PausedJobs(try connection.run([PausedJobs.query])[0].rows)
        for (index, condition) in lanes + parked {
            var due = SQLCondition("state = 'queued' AND \(condition)")
            due.add("place <= \(due.parameter(.integer(now)))")
            let isHeld = pauses.holdCondition(in: &due, dialect: connection.dialect)
            let row = try connection.row(
                """
                SELECT count(*), count(CASE WHEN \(isHeld) THEN 1 END),
                    min(CASE WHEN \(isHeld) THEN NULL ELSE place END)
                FROM job \(connection.dialect.using(index))
                WHERE \(due.text)
                """, due.arguments)
            guard let row else { continue }
            let held: Int = row[1]
            paused = paused.adding(clamping: held)
            count = count.adding(clamping: row[0] as Int).subtracting(clamping: held)
            if let found: Int64 = row[2] { oldest = min(oldest ?? found, found) }
        }
    }
}

/// Queries how jobs ended in intervals of the same length.
private enum PaceQuery {
    /// - Parameter length: of an interval, in milliseconds.
    static func intervals(
        _ count: Int, of length: Int64, until end: Date, on connection: any SQLConnection
    ) throws -> [JobPace.Interval] {
        var intervals = Array(repeating: JobPace.Interval(), count: count)
        let start = end.milliseconds.subtracting(clamping: Int64(count) * length)
        let sql = sql(connection.dialect)
        for state in [JobState.succeeded, .failed, .dead] {
            // One query per interval sorts a part of the rows for GROUP BY, which takes two thirds of the time of one
            // query.
            let statements = intervals.indices.map { index in
                let from = start.adding(clamping: Int64(index) * length)
                return SQLStatement(
                    sql, [.text(state.rawValue), .integer(from), .integer(from.adding(clamping: length))])
            }
            for (index, result) in try connection.run(statements).enumerated() {
                for row in result.rows { intervals[index].record(row[1], endedAs: state, inBucket: row[0]) }
            }
        }
        return intervals
    }

    /// The offset keeps SQLite from flattening the subquery, so that it computes each duration once, not for each
    /// comparison.
    private static func sql(_ dialect: SQLDialect) -> String {
        let start = dialect.greatest("created_at", "coalesce(not_before, created_at)")
        return """
            SELECT \(span(0, last: LatencyHistogram.boundsMilliseconds.count)) AS span, count(*) FROM (
                SELECT finished_at - \(start) AS duration FROM finished_job \(dialect.using("finished_at"))
                WHERE state = $1 AND finished_at >= $2 AND finished_at < $3 LIMIT 10000000 OFFSET 0
            ) AS ended GROUP BY span
            """
    }

    /// The SQL of a binary search for a duration's bucket.
    private static func span(_ first: Int, last: Int) -> String {
        guard first < last else { return "\(first)" }
        let middle = (first + last) / 2
        let bound = LatencyHistogram.boundsMilliseconds[middle]
        return
            "CASE WHEN duration < \(bound) THEN \(span(first, last: middle)) ELSE \(span(middle + 1, last: last)) END"
    }
}

extension JobPace.Interval {
    fileprivate mutating func record(_ count: Int, endedAs state: JobState, inBucket bucket: Int) {
        if state == .succeeded {
            succeeded = succeeded.adding(clamping: count)
        } else {
            failed = failed.adding(clamping: count)
        }
        latencies.add(count, inBucket: bucket)
    }
}
