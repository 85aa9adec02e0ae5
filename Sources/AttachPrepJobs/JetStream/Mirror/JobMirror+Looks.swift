import GRDB
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension JobMirror {
    /// What was heard last of jobs, and which keys are being worked on.
    struct Look: Sendable {
        var jobs: [String: KnownJob] = [:]
        var busyKeys: Set<String> = []
    }

    func look(_ ids: [String]) async throws -> Look {
        try await read { database in
            var look = Look()
            for id in ids {
                guard let job = try KnownJob.all("FROM job WHERE uuid = ?", [id], database).first else { continue }
                look.jobs[id] = job
                if try Self.isBusy(job.value.key, database) { look.busyKeys.insert(job.value.key) }
            }
            return look
        }
    }

    private static func isBusy(_ key: String, _ database: Database) throws -> Bool {
        try database.number(
            """
            SELECT 1 FROM job INDEXED BY job_running_key WHERE key = ? AND state = 'running' LIMIT 1
            """, [key]) != nil
    }

    /// Which of these jobs, that have begun with these changes, have a key that another one had begun to be worked on
    /// under before.
    func late(_ begun: [(job: KeptJob, revision: UInt64)]) async throws -> Set<String> {
        try await read { database in
            var late: Set<String> = []
            for (job, revision) in begun {
                let earlier = try database.number(
                    """
                    SELECT 1 FROM job INDEXED BY job_running_key
                    WHERE key = ? AND state = 'running' AND uuid <> ? AND begun < ?
                    """, [job.key, job.id, Int64(clamping: revision)])
                if earlier != nil { late.insert(job.id) }
            }
            return late
        }
    }

    /// Unfinished jobs that a worker has, or had when it was lost.
    func held(by worker: String) async throws -> [String] {
        try await read { database in
            try database.rows(
                """
                SELECT uuid FROM job WHERE state = 'running' AND worker = ?1
                UNION SELECT uuid FROM job INDEXED BY job_lost WHERE lost_by IS NOT NULL AND lost_by = ?1
                    AND state IN ('queued', 'running')
                """, [worker]
            ).map { $0[0] }
        }
    }

    func isWhole(_ batch: String) async throws -> Bool {
        try await read { try $0.number("SELECT 1 FROM batch WHERE id = ?", [batch]) != nil }
    }

    func nextDue(after now: Int64) async throws -> Date? {
        try await read { try CatalogueQuery.nextDue($0, after: now) }
    }

    /// Finished jobs that a filter chooses, at most `count`.
    func finished(_ filter: JobFilter, count: Int) async throws -> [KnownJob] {
        let selection = try JobSelection(filter, among: JobState.allCases.filter(\.isFinished))
        let found = try await read { database in
            try (selection.states ?? []).flatMap { try Self.chosen(selection, $0, count: count, database) }
        }
        return Array(found.prefix(count))
    }

    /// Jobs of a state that a selection chooses, the earliest first.
    ///
    /// - Parameter cursor: the last one of the page before.
    func page(_ selection: JobSelection, _ state: JobState, after cursor: String, count: Int) async throws -> [KnownJob]
    {
        var selection = selection
        selection.add("uuid > ?", cursor)
        return try await read { [selection] in try Self.chosen(selection, state, count: count, $0) }
    }

    /// The earliest first. A search walks along the index, and reads the rows of what it has found alone.
    private static func chosen(
        _ selection: JobSelection, _ state: JobState, count: Int, _ database: Database
    ) throws -> [KnownJob] {
        try KnownJob.all(
            """
            FROM job WHERE uuid IN (
                SELECT uuid FROM job WHERE state = '\(state.rawValue)' AND \(selection.condition) ORDER BY uuid LIMIT ?)
            ORDER BY uuid
            """, StatementArguments(selection.arguments + [count]), database)
    }
}
