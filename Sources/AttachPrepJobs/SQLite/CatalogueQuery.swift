import GRDB
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A page of jobs, as it is asked of the tables.
struct CatalogueQuery: Sendable {
    private var selection: JobSelection
    private let count: Int

    init(_ filter: JobFilter, after cursor: JobID?, limit: Int) throws {
        selection = try JobSelection(filter)
        if let cursor { selection.add("uuid < ?", cursor.text) }
        count = max(0, limit)
    }

    /// One more than the page holds, so that it is known whether there is another one.
    ///
    /// The latest of each state, then of all of them: so that an index finds them, however many others there are.
    func records(_ database: Database) throws -> [JobRecord] {
        guard let states = selection.states else { return try latest("1", database) }
        let found = try states.flatMap { try latest("state = '\($0.rawValue)'", database) }
        return Array(found.sorted { $0.uuid > $1.uuid }.prefix(count.adding(clamping: 1)))
    }

    private func latest(_ state: String, _ database: Database) throws -> [JobRecord] {
        let chosen =
            "FROM job WHERE \(state) AND \(selection.condition) ORDER BY uuid DESC LIMIT \(count.adding(clamping: 1))"
        // A search walks along the index, and reads the rows of what it has found alone.
        let sql =
            selection.searches
            ? "SELECT \(JobRecord.columns) FROM job WHERE uuid IN (SELECT uuid \(chosen))"
            : "SELECT \(JobRecord.columns) \(chosen)"
        return try StoredRow.fetchAll(database, sql: sql, arguments: StatementArguments(selection.arguments))
            .map(JobRecord.init)
    }

    func page(_ records: [JobRecord]) throws -> JobPage {
        let jobs = try records.prefix(count).map { try $0.job() }
        return JobPage(jobs: jobs, next: records.count > count ? jobs.last?.id : nil)
    }
}

extension CatalogueQuery {
    /// When the next queued job will be due that is not yet.
    static func nextDue(_ database: Database, after now: Int64) throws -> Date? {
        let next = try (0..<3).compactMap { lane in
            try database.number(
                """
                SELECT min(due_at) FROM job INDEXED BY job_queued
                WHERE state = 'queued' AND parked = 0 AND lane = ? AND due_at > ?
                """, [lane, now])
        }
        let alone = try database.number(
            """
            SELECT min(due_at) FROM job INDEXED BY job_alone
            WHERE state = 'queued' AND parked = \(JobIsolation.mark) AND due_at > ?
            """, [now])
        return (next + [alone].compactMap(\.self)).min().map { Date(milliseconds: $0) }
    }

    static func counts(_ database: Database, at now: Int64) throws -> JobCounts {
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

/// The jobs that could run now, counted in their indexes.
private struct DueJobs {
    var count = 0
    var oldest: Int64?

    init(_ database: Database, at now: Int64) throws {
        let lanes = (0..<3).map { ("job_queued", "parked = 0 AND lane = \($0)") }
        let parked = [
            ("job_host_parked", "parked = 1"), ("job_key_parked", "parked = 2"),
            ("job_alone", "parked = \(JobIsolation.mark)"),
        ]
        for (index, source) in lanes + parked {  // Bounded: lists, not numbers.
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
