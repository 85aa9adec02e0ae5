import GRDB
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Asks the table of jobs how they ended in an hour. What both drivers ask.
enum PaceQuery {
    private static let minute: Int64 = 60_000

    static func pace(_ database: Database, until end: Date) throws -> JobPace {
        var pace = JobPace(until: end)
        // Bounded: an hour's minutes, in milliseconds.
        let start = end.milliseconds.subtracting(clamping: Int64(JobPace.minutesCount) * minute)
        for state in [JobState.succeeded, .failed, .dead] {
            // Minute by minute: what is sorted for its groups is then a sixtieth, which takes two thirds of the time.
            for index in pace.minutes.indices {
                // Bounded: an hour's minutes, in milliseconds.
                let from = start.adding(clamping: Int64(index) * minute)
                for row in try database.rows(sql, [state.rawValue, from, from.adding(clamping: minute)]) {
                    pace.minutes[index].note(row[1], endedAs: state, inSpan: row[0])
                }
            }
        }
        return pace
    }

    /// The inner question has a limit that limits nothing, so that SQLite works out a duration once and not for each
    /// of its comparisons.
    private static let sql = """
        SELECT \(span(0, LatencyCounts.boundsMilliseconds.count)) AS span, count(*) FROM (
            SELECT finished_at - max(created_at, coalesce(not_before, created_at)) AS duration
            FROM job INDEXED BY job_finished WHERE state = ?1 AND finished_at >= ?2 AND finished_at < ?3
            LIMIT -1 OFFSET 0
        ) GROUP BY span
        """

    /// The number of a duration's span, found by halves.
    private static func span(_ first: Int, _ last: Int) -> String {
        guard first < last else { return "\(first)" }
        let middle = (first + last) / 2  // Bounded: indexes of a list of ours.
        let bound = LatencyCounts.boundsMilliseconds[middle]
        return "CASE WHEN duration < \(bound) THEN \(span(first, middle)) ELSE \(span(middle + 1, last)) END"
    }
}

extension JobPace.Minute {
    fileprivate mutating func note(_ count: Int, endedAs state: JobState, inSpan span: Int) {
        if state == .succeeded {
            succeeded = succeeded.adding(clamping: count)
        } else {
            failed = failed.adding(clamping: count)
        }
        latencies.add(count, inSpan: span)
    }
}
