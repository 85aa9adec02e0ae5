import GRDB
import RichPush

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
        let list = try StoredJSON.text(ids)
        let rows = try await read { database in
            try database.rows(
                """
                SELECT kept.revision, kept.heard_at, kept.value FROM json_each(?) AS wanted
                JOIN kept ON kept.uuid = wanted.value
                WHERE kept.value IS NOT NULL
                    AND (batch IS NULL OR EXISTS (SELECT 1 FROM batch WHERE id = kept.batch))
                """, [list]
            ).map(KeptRow.init)
        }
        var look = Look()
        for row in rows {
            let job = try row.job()
            look.jobs[job.value.id] = job
        }
        let keys = try StoredJSON.text(Set(look.jobs.values.map(\.value.key)))
        look.busyKeys = try await read { database in
            let rows = try database.rows(
                """
                SELECT DISTINCT job.key FROM json_each(?) AS wanted JOIN job INDEXED BY job_alive_key
                    ON job.key = wanted.value AND job.state IN ('queued', 'running') AND job.state = 'running'
                """, [keys])
            return Set(rows.map { $0[0] as String })
        }
        return look
    }

    /// Which of these jobs, that have begun with these changes, have a key that another one had begun to be worked on
    /// under before.
    func late(_ begun: [(job: KeptJob, revision: UInt64)]) async throws -> Set<String> {
        try await read { database in
            var late: Set<String> = []
            for (job, revision) in begun {
                let earlier = try database.number(
                    """
                    SELECT 1 FROM job INDEXED BY job_alive_key JOIN kept ON kept.uuid = job.uuid
                    WHERE job.key = ? AND job.state IN ('queued', 'running') AND job.state = 'running'
                        AND job.uuid <> ? AND kept.begun < ?
                    """, [job.key, job.id, Int64(revision)])
                if earlier != nil { late.insert(job.id) }
            }
            return late
        }
    }

    func isWhole(_ batch: String) async throws -> Bool {
        try await read { try $0.number("SELECT 1 FROM batch WHERE id = ?", [batch]) != nil }
    }

    func nextDue(after now: Int64) async throws -> Date? {
        try await read { try CatalogueQuery.nextDue($0, after: now) }
    }

    /// Jobs that wait.
    func queuedCount() async throws -> Int {
        Int(try await read { try $0.number("SELECT number FROM tally WHERE name = 'queued'") } ?? 0)
    }

    /// Finished jobs that a filter chooses, at most `count`.
    func finished(_ filter: JobFilter, count: Int) async throws -> [KnownJob] {
        let selection = try JobSelection(filter, among: JobState.allCases.filter(\.isFinished))
        let rows = try await read { database -> [KeptRow] in
            try (selection.states ?? []).flatMap { state in
                try Row.fetchAll(
                    database,
                    sql: """
                        SELECT kept.revision, kept.heard_at, kept.value FROM kept WHERE uuid IN (
                            SELECT uuid FROM job WHERE state = '\(state.rawValue)' AND \(selection.condition)
                            LIMIT \(count))
                        """, arguments: StatementArguments(selection.arguments)
                ).map(KeptRow.init)
            }
        }
        return try rows.prefix(count).map { try $0.job() }
    }

    /// Jobs of a state that a selection chooses, the earliest first.
    ///
    /// - Parameter cursor: the last one of the page before.
    func page(_ selection: JobSelection, _ state: JobState, after cursor: String, count: Int) async throws -> [KnownJob]
    {
        var selection = selection
        selection.add("uuid > ?", cursor)
        let rows = try await read { [selection] database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT kept.revision, kept.heard_at, kept.value FROM kept WHERE uuid IN (
                        SELECT uuid FROM job WHERE state = '\(state.rawValue)' AND \(selection.condition)
                        ORDER BY uuid LIMIT \(count)) AND value IS NOT NULL ORDER BY uuid
                    """, arguments: StatementArguments(selection.arguments)
            ).map(KeptRow.init)
        }
        return try rows.map { try $0.job() }
    }
}

/// A row as it is read: it leaves the database's thread before its JSON is decoded.
struct KeptRow: Sendable {
    var revision: Int64
    var heardAt: Int64
    var value: String

    /// Of `revision, heard_at, value`.
    init(_ row: Row) {
        revision = row[0]
        heardAt = row[1]
        value = row[2]
    }

    func job() throws -> KnownJob {
        KnownJob(value: try KeptJob(Array(value.utf8)), revision: UInt64(revision), heardAt: heardAt)
    }
}
