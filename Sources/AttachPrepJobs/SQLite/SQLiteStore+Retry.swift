import GRDB
import RichPush
import SafeArithmetic

extension SQLiteStore {
    /// Jobs queued again in one step: other changes wait for some milliseconds at most.
    private static let retriedCountMax = 200

    public func retry(_ filter: JobFilter) async throws -> Int {
        let selection = try JobSelection(filter, among: JobState.allCases.filter(\.isRetryable))
        var count = 0
        for state in selection.states ?? [] {
            var cursor: String? = ""
            // Onwards only: one that fails again meanwhile is not queued a second time.
            while let after = cursor {
                let now = clock.now().wall
                let limit = limits.queuedJobsMax
                let names = try await write { database, changes in
                    let names = try Self.retry(selection, state, after: after, at: now, limit: limit, database)
                    // Bounded: lists, not numbers.
                    changes += names.compactMap { JobID($0) }.map { JobFeed.Change(job: $0, state: .queued) }
                    return names
                }
                count += names.count  // Bounded: counts of what is in memory.
                cursor = names.max()
            }
        }
        return count
    }

    /// - Returns: the names of those that are queued now; none when there are no more, or there is no room.
    private static func retry(
        _ selection: JobSelection, _ state: JobState, after cursor: String, at now: Int64, limit: Int,
        _ database: Database
    ) throws -> [String] {
        let queued = try database.number("SELECT number FROM tally WHERE name = 'queued'") ?? 0
        let room = min(retriedCountMax, max(0, limit.subtracting(clamping: Int(clamping: queued))))
        let hasSecrets = state == .cancelled ? "secret IS NOT '\(JobSecrets.wiped)'" : "1"
        let rows = try StoredRow.fetchAll(
            database,
            sql: """
                UPDATE job SET \(queuedAgain("?1")) WHERE id IN (SELECT id FROM job
                    WHERE state = '\(state.rawValue)' AND uuid > ?2 AND \(hasSecrets)
                        AND \(selection.condition) ORDER BY uuid LIMIT \(room))
                RETURNING uuid
                """, arguments: [now, cursor] + StatementArguments(selection.arguments))
        return rows.map { $0[0] }
    }
}
