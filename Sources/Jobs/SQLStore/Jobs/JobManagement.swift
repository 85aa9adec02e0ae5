import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
public import FoundationEssentials
public import RichPush
import SafeArithmetic

extension SQLJobStore {
    public func job(_ id: JobID) async throws -> Job? {
        try await read { try JobRecord.find(id, $0) }?.job()
    }

    public func resultSecret(of id: JobID) async throws -> SealedSecret? {
        let stored = try await read { connection -> String? in
            try connection.row(
                "SELECT secret FROM finished_job WHERE id = $1 AND state = 'succeeded' AND secret IS NOT NULL",
                [.text(id.text)]
            ).map { $0[0] }
        }
        guard let stored, stored != JobSecrets.wiped else { return nil }
        return SealedSecret(text: try secrets.opened(stored, for: id.text))
    }

    public func cancel(_ id: JobID) async throws -> Job {
        try await write { [secrets] transaction in
            let row = try transaction.row(
                "SELECT \(ClaimedRow.columns) FROM job WHERE id = $1 \(transaction.dialect.forUpdate)",
                [.text(id.text)])
            guard let row else { throw try Self.stateConflict(id, action: "cannot be cancelled", on: transaction) }
            if row[1] == JobState.queued.rawValue {
                let webhook = CancelledNotice(ClaimedRow(row), transaction.moment, secrets)
                _ = try JobEnd.cancelled.end(id.text, from: .queued, transaction)
                webhook.insert(transaction)
                transaction.moved(from: .queued, to: .cancelled)
                transaction.changes.append(JobFeed.Change(job: id, state: .cancelled))
            } else {
                transaction.later("UPDATE job SET cancelling = 1 WHERE id = $1", [.text(id.text)])
                transaction.changes.append(JobFeed.Change(job: id, state: .running))
            }
            guard let job = try JobRecord.find(id, transaction) else { throw StorageErrors.unreadable("a job") }
            return job
        }.job()
    }

    public func retry(_ id: JobID) async throws -> Job {
        let limit = limits.queuedJobsMax
        return try await write { transaction in
            let row = try transaction.row(
                "SELECT state, secret FROM finished_job WHERE id = $1 \(transaction.dialect.forUpdate)",
                [.text(id.text)])
            guard let row, let state = JobState(rawValue: row[0]), state.isRetryable else {
                throw try Self.stateConflict(id, action: "cannot be retried", on: transaction)
            }
            let secret: String? = row[1]
            if state == .cancelled, secret == JobSecrets.wiped { throw JobSecrets.wipedError(id) }
            try Self.checkCapacity(for: 1, limit: limit, transaction)
            try FinishedJobs.requeue([id.text], from: state, transaction)
            guard let job = try JobRecord.find(id, transaction) else { throw StorageErrors.unreadable("a job") }
            return job
        }.job()
    }

    public func schedule(_ id: JobID, notBefore: Date?) async throws -> Job {
        let milliseconds = notBefore.map { delay(until: $0) }
        return try await write { transaction -> JobRecord in
            try Self.schedule(id, notBefore: notBefore, delay: milliseconds, in: transaction)
        }.job()
    }

    /// - Parameter delay: the milliseconds until `notBefore`; nil for now.
    private static func schedule(
        _ id: JobID, notBefore: Date?, delay: Int64?, in transaction: StoreTransaction
    ) throws -> JobRecord {
        let row = try transaction.row(
            "SELECT request FROM job WHERE id = $1 AND state = 'queued' \(transaction.dialect.forUpdate)",
            [.text(id.text)])
        guard let row else { throw try stateConflict(id, action: "cannot be scheduled", on: transaction) }
        var request = try StoredJSON.request(row[0])
        if let notBefore, let notAfter = request.jobOptions.notAfter, notAfter <= notBefore {
            throw AttachPrepError(
                .requestInvalid,
                "The job's notAfter is \(Timestamp.text(notAfter)); give a \"notBefore\" before that, or cancel it."
            )
        }
        request.jobOptions.notBefore = notBefore
        let now = transaction.moment.wall
        let due = max(now, now.adding(clamping: delay ?? 0))
        let start: Int64? = delay == nil ? nil : due
        let wait: JobWait = due > now ? .notBefore : .none
        transaction.later(
            """
            UPDATE job SET request = $2, not_before = $3, due_at = $4, parked = 0, wait = \(wait.rawValue),
                place = \(Requeue.place("$4", now: "$5", transaction.dialect))
            WHERE id = $1 AND state = 'queued'
            """,
            [.text(id.text), .text(try StoredJSON.text(request)), SQLValue(start), .integer(due), .integer(now)])
        transaction.changes.append(JobFeed.Change(job: id, state: .queued))
        guard let record = try JobRecord.find(id, transaction) else { throw StorageErrors.unreadable("a job") }
        return record
    }

    private static func stateConflict(
        _ id: JobID, action what: String, on connection: any SQLConnection
    ) throws -> AttachPrepError {
        let row = try connection.row(
            "SELECT state FROM job WHERE id = $1 UNION ALL SELECT state FROM finished_job WHERE id = $1",
            [.text(id.text)])
        let state: String? = row?[0]
        return .stateConflict(id, state: state.flatMap(JobState.init(rawValue:)), action: what)
    }
}

/// Changes of jobs that have ended.
enum FinishedJobs {
    /// Moves jobs back into the queue, as if they were new.
    static func requeue(_ ids: [String], from state: JobState, _ transaction: StoreTransaction) throws {
        let isAmong = transaction.dialect.isAmong("id", 1)
        // A job that was never claimed again has no lane floor to respect but that of its lane, now.
        _ = try transaction.run([
            SQLStatement(
                """
                INSERT INTO job (id, state, lane, caller_id, source, owner, host, key, upload, created_at, not_before,
                    not_after, calls_back, request, secret, origin, batch, idempotency_key, due_at, place)
                SELECT id, 'queued', lane, caller_id, source, owner, host, key, upload, created_at, not_before,
                    not_after, calls_back, request, secret, origin, batch, idempotency_key, $2, $2
                FROM finished_job WHERE \(isAmong)
                """, [.texts(ids), .integer(transaction.moment.wall)]),
            SQLStatement("DELETE FROM finished_job WHERE \(isAmong)", [.texts(ids)]),
        ])
        transaction.moved(ids.count, from: state, to: .queued)
        transaction.changes += ids.compactMap { JobID($0) }.map { JobFeed.Change(job: $0, state: .queued) }
    }

    /// Deletes jobs with their log lines, tags and webhooks.
    static func delete(_ ids: [String], from state: JobState, _ transaction: StoreTransaction) {
        for (table, column) in [("job_line", "job"), ("job_tag", "job"), ("webhook", "job"), ("finished_job", "id")] {
            transaction.later("DELETE FROM \(table) WHERE \(transaction.dialect.isAmong(column, 1))", [.texts(ids)])
        }
        transaction.moved(ids.count, from: state, to: nil)
    }
}

extension SQLJobStore {
    /// Jobs queued again per transaction, so that other changes wait for milliseconds only.
    private static let retriedCountMax = 200
    /// Rows removed per transaction, so that other changes wait for milliseconds only.
    static let removalCountMax = 500

    public func retry(_ filter: JobFilter) async throws -> Int {
        let selection = JobSelection(filter, among: JobState.allCases.filter(\.isRetryable))
        var count = 0
        for state in selection.states {
            var cursor: String? = ""
            // The cursor only moves forward, so that a job that fails again meanwhile is not retried twice.
            while let after = cursor {
                let limit = limits.queuedJobsMax
                let ids = try await write {
                    try Self.retry(selection, state: state, after: after, limit: limit, in: $0)
                }
                count += ids.count
                cursor = ids.last
            }
        }
        return count
    }

    /// - Returns: The ids of the queued jobs, in order; empty when there are no more or the queue is full.
    private static func retry(
        _ selection: JobSelection, state: JobState, after cursor: String, limit: Int, in transaction: StoreTransaction
    ) throws -> [String] {
        let queued = Int(clamping: try transaction.currentCounts()[.queued])
        let capacity = min(retriedCountMax, max(0, limit.subtracting(clamping: queued)))
        var condition = selection.condition(for: state, transaction.dialect)
        condition.add("id > \(condition.parameter(.text(cursor)))")
        if state == .cancelled { condition.add("(secret IS NULL OR secret <> '\(JobSecrets.wiped)')") }
        let ids = try transaction.rows(
            """
            SELECT id FROM finished_job WHERE \(condition.text) ORDER BY id LIMIT \(capacity)
            \(transaction.dialect.forUpdate)
            """, condition.arguments
        ).map { $0[0] as String }
        if !ids.isEmpty { try FinishedJobs.requeue(ids, from: state, transaction) }
        return ids
    }

    public func purge(_ filter: JobFilter) async throws -> Int {
        let selection = JobSelection(filter, among: JobState.allCases.filter(\.isFinished))
        var count = 0
        var media: Set<String> = []
        for state in selection.states {
            while true {
                let condition = selection.condition(for: state, database.dialect)
                let removed = try await remove(condition.text, arguments: condition.arguments, state: state)
                count += removed.count
                media.formUnion(removed.compactMap(\.self))
                if removed.count < Self.removalCountMax { break }
            }
        }
        _ = try await dropResults(media.sorted(), .purged)
        return count
    }

    /// Removes some of the finished jobs of a condition.
    ///
    /// - Returns: Their media ids.
    func remove(_ condition: String, arguments: [SQLValue], state: JobState) async throws -> [String?] {
        try await write { transaction in
            let rows = try transaction.rows(
                """
                SELECT id, media FROM finished_job WHERE \(condition) LIMIT \(Self.removalCountMax)
                \(transaction.dialect.forUpdate)
                """, arguments)
            if !rows.isEmpty { FinishedJobs.delete(rows.map { $0[0] }, from: state, transaction) }
            return rows.map { $0[1] }
        }
    }
}

/// Log lines of jobs.
extension SQLJobStore {
    public func log(of id: JobID) async throws -> [JobLogLine] {
        try await read { connection in
            try connection.rows(
                "SELECT date, level, line FROM job_line WHERE job = $1 ORDER BY id", [.text(id.text)]
            ).map { JobLogLine(job: id, date: Date(milliseconds: $0[0]), level: $0[1], text: $0[2]) }
        }
    }

    public func append(_ lines: [JobLogLine]) async throws {
        try await write { transaction in NewLines.insert(lines, transaction) }
    }
}

/// Log lines as rows.
enum NewLines {
    static func insert(_ lines: [JobLogLine], _ transaction: StoreTransaction) {
        for (id, lines) in Dictionary(grouping: lines, by: \.job) {
            for line in lines.suffix(Limits.jobLogLinesMax) {
                transaction.later(
                    """
                    INSERT INTO job_line (job, date, level, line) SELECT $1, $2, $3, $4
                    WHERE EXISTS (SELECT 1 FROM job WHERE id = $1)
                        OR EXISTS (SELECT 1 FROM finished_job WHERE id = $1)
                    """,
                    [.text(id.text), .integer(line.date.milliseconds), .text(line.level), .text(line.text)])
            }
            transaction.later(
                """
                DELETE FROM job_line WHERE job = $1 AND id <= (SELECT id FROM job_line WHERE job = $1
                    ORDER BY id DESC LIMIT 1 OFFSET \(Limits.jobLogLinesMax))
                """, [.text(id.text)])
        }
    }
}
