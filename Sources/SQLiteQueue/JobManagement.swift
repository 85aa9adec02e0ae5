public import AttachPrepJobs
import AttachPrepModel
public import FoundationEssentials
import GRDB
import RichPush
import SafeArithmetic

extension SQLiteStore {
    public func job(_ id: JobID) async throws -> Job? {
        try await read { database in
            try database.row("SELECT \(JobRecord.columns) FROM job WHERE uuid = ?", [id.text]).map(JobRecord.init)
        }?.job()
    }

    public func cancel(_ id: JobID) async throws -> Job {
        let moment = clock.now()
        return try await write { database, changes in
            let notices = try CancelledNotices("uuid = ? AND state = 'queued'", [id.text], database, at: moment)
            let ended = try database.row(
                """
                UPDATE job SET state = 'cancelled', parked = 0, finished_at = ?2,
                    secret = CASE WHEN secret IS NULL THEN NULL ELSE '\(JobSecrets.wiped)' END
                WHERE uuid = ?1 AND state = 'queued' RETURNING \(JobRecord.columns)
                """, [id.text, moment.wall])
            if let ended {
                try notices.insert(database)
                changes.append(JobFeed.Change(job: id, state: .cancelled))
                return JobRecord(ended)
            }
            let marked = try database.row(
                "UPDATE job SET cancelling = 1 WHERE uuid = ? AND state = 'running' RETURNING \(JobRecord.columns)",
                [id.text])
            guard let marked else { throw try Self.stateConflict(id, "cannot be cancelled", database) }
            changes.append(JobFeed.Change(job: id, state: .running))
            return JobRecord(marked)
        }.job()
    }

    public func retry(_ id: JobID) async throws -> Job {
        let now = clock.now().wall
        let limit = limits.queuedJobsMax
        return try await write { database, changes in
            let secret = try database.row("SELECT secret FROM job WHERE uuid = ? AND state = 'cancelled'", [id.text])
            if let secret: String = secret?[0], secret == JobSecrets.wiped {
                throw JobSecrets.wipedError(id)
            }
            let row = try database.row(
                """
                UPDATE job SET \(Self.requeueAssignments("?2"))
                WHERE uuid = ?1 AND state IN ('failed', 'dead', 'cancelled') RETURNING \(JobRecord.columns)
                """, [id.text, now])
            guard let row else { throw try Self.stateConflict(id, "cannot be retried", database) }
            try Self.checkCapacity(for: 0, limit: limit, database)
            changes.append(JobFeed.Change(job: id, state: .queued))
            return JobRecord(row)
        }.job()
    }

    /// The SQL assignments that queue a job again.
    ///
    /// - Parameter now: the SQL parameter of the time.
    static func requeueAssignments(_ now: String) -> String {
        """
        state = 'queued', attempts = 0, losses = 0, result = NULL, error = NULL, error_code = NULL,
        media = NULL, started_at = NULL, finished_at = NULL, worker = NULL, due_at = \(now), wait = 0, parked = 0
        """
    }

    public func nextDue() async throws -> Date? {
        let now = clock.now().wall
        return try await read { try CatalogQuery.nextDue($0, after: now) }
    }

    private static func stateConflict(_ id: JobID, _ what: String, _ database: Database) throws -> AttachPrepError {
        .stateConflict(id, try database.row("SELECT state FROM job WHERE uuid = ?", [id.text])?[0], what)
    }
}

extension SQLiteStore {
    /// Jobs queued again per transaction, so that other changes wait for milliseconds only.
    private static let retriedCountMax = 200

    public func retry(_ filter: JobFilter) async throws -> Int {
        let selection = try JobSelection(filter, among: JobState.allCases.filter(\.isRetryable))
        var count = 0
        for state in selection.states ?? [] {
            var cursor: String? = ""
            // The cursor only moves forward, so that a job that fails again meanwhile is not retried twice.
            while let after = cursor {
                let now = clock.now().wall
                let limit = limits.queuedJobsMax
                let names = try await write { database, changes in
                    let names = try Self.retry(selection, state, after: after, at: now, limit: limit, database)
                    changes += names.compactMap { JobID($0) }.map { JobFeed.Change(job: $0, state: .queued) }
                    return names
                }
                count += names.count
                cursor = names.max()
            }
        }
        return count
    }

    /// - Returns: The ids of the queued jobs; empty when there are no more or the queue is full.
    private static func retry(
        _ selection: JobSelection, _ state: JobState, after cursor: String, at now: Int64, limit: Int,
        _ database: Database
    ) throws -> [String] {
        let queued = try database.number("SELECT number FROM tally WHERE name = 'queued'") ?? 0
        let capacity = min(retriedCountMax, max(0, limit.subtracting(clamping: Int(clamping: queued))))
        let hasSecrets = state == .cancelled ? "secret IS NOT '\(JobSecrets.wiped)'" : "1"
        let rows = try StoredRow.fetchAll(
            database,
            sql: """
                UPDATE job SET \(requeueAssignments("?1")) WHERE id IN (SELECT id FROM job
                    WHERE state = '\(state.rawValue)' AND uuid > ?2 AND \(hasSecrets)
                        AND \(selection.condition) ORDER BY uuid LIMIT \(capacity))
                RETURNING uuid
                """, arguments: [now, cursor] + StatementArguments(selection.arguments))
        return rows.map { $0[0] }
    }
}

extension SQLiteStore {
    /// Rows removed per transaction, so that other changes wait for milliseconds only.
    static let removalCountMax = 500

    public func purge(_ filter: JobFilter) async throws -> Int {
        let selection = try JobSelection(filter, among: JobState.allCases.filter(\.isFinished))
        var count = 0
        var media: Set<String> = []
        for state in selection.states ?? [] {
            while true {
                let removed = try await write { database, _ in try Self.remove(selection, state, database) }
                count += removed.count
                media.formUnion(removed.compactMap(\.self))
                if removed.count < Self.removalCountMax { break }
            }
        }
        _ = try await dropResults(media.sorted(), .purged)
        return count
    }

    /// - Returns: The media ids of the removed jobs.
    private static func remove(
        _ selection: JobSelection, _ state: JobState, _ database: Database
    ) throws -> [String?] {
        let rows = try StoredRow.fetchAll(
            database,
            sql: """
                DELETE FROM job WHERE id IN (SELECT id FROM job
                    WHERE state = '\(state.rawValue)' AND \(selection.condition) LIMIT \(removalCountMax))
                RETURNING media
                """, arguments: StatementArguments(selection.arguments))
        return rows.map { $0[0] }
    }
}

extension SQLiteStore {
    public func log(of id: JobID) async throws -> [JobLogLine] {
        try await read { database in
            let rows = try database.rows(
                """
                SELECT job_line.date, job_line.level, job_line.text FROM job
                JOIN job_line ON job_line.job = job.id WHERE job.uuid = ? ORDER BY job_line.id
                """, [id.text])
            return rows.map {
                JobLogLine(job: id, date: Date(milliseconds: $0[0]), level: $0[1], text: $0[2])
            }
        }
    }

    public func append(_ lines: [JobLogLine]) async throws {
        try await write { database, _ in
            for (id, lines) in Dictionary(grouping: lines, by: \.job) {
                let job = try database.number("SELECT id FROM job WHERE uuid = ?", [id.text])
                guard let job else { continue }
                try Self.append(lines.suffix(Limits.jobLogLinesMax), to: job, database)
            }
        }
    }

    private static func append(_ lines: some Sequence<JobLogLine>, to job: Int64, _ database: Database) throws {
        for line in lines {
            try database.run(
                "INSERT INTO job_line (job, date, level, text) VALUES (?, ?, ?, ?)",
                [job, line.date.milliseconds, line.level, line.text])
        }
        try database.run(
            """
            DELETE FROM job_line WHERE job = ?1 AND id <= (SELECT id FROM job_line WHERE job = ?1
                ORDER BY id DESC LIMIT 1 OFFSET \(Limits.jobLogLinesMax))
            """, [job])
    }
}
