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
        let (rows, busyKeys) = try await read { database in
            var rows: [(id: String, row: KeptRow)] = []
            var busyKeys: Set<String> = []
            for id in ids {
                guard let row = try Self.row(id, database) else { continue }
                rows.append((id, KeptRow(row)))
                let key: String = row[3]
                if try Self.isBusy(key, database) { busyKeys.insert(key) }
            }
            return (rows, busyKeys)
        }
        return Look(
            jobs: Dictionary(try rows.map { ($0.id, try $0.row.job($0.id, cache)) }) { first, _ in first },
            busyKeys: busyKeys)
    }

    private static func row(_ id: String, _ database: Database) throws -> Row? {
        try database.row(
            """
            SELECT kept.revision, kept.heard_at, kept.value, job.key FROM kept JOIN job ON job.uuid = kept.uuid
            WHERE kept.uuid = ? AND kept.value IS NOT NULL
                AND (batch IS NULL OR EXISTS (SELECT 1 FROM batch WHERE id = kept.batch))
            """, [id])
    }

    private static func isBusy(_ key: String, _ database: Database) throws -> Bool {
        try database.number(
            """
            SELECT 1 FROM job INDEXED BY job_alive_key
            WHERE key = ? AND state IN ('queued', 'running') AND state = 'running' LIMIT 1
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

    /// The same of one that may have been written or read before.
    func job(_ id: String, _ cache: KeptJobCache) throws -> KnownJob {
        KnownJob(value: try cache.job(id, Array(value.utf8)), revision: UInt64(revision), heardAt: heardAt)
    }
}
