import GRDB
import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

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
            let told = try database.row(
                "UPDATE job SET cancelling = 1 WHERE uuid = ? AND state = 'running' RETURNING \(JobRecord.columns)",
                [id.text])
            guard let told else { throw try Self.refusal(id, "is not called off", database) }
            changes.append(JobFeed.Change(job: id, state: .running))
            return JobRecord(told)
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
                UPDATE job SET \(Self.queuedAgain("?2"))
                WHERE uuid = ?1 AND state IN ('failed', 'dead', 'cancelled') RETURNING \(JobRecord.columns)
                """, [id.text, now])
            guard let row else { throw try Self.refusal(id, "cannot be tried again", database) }
            try Self.checkRoom(for: 0, limit: limit, database)
            changes.append(JobFeed.Change(job: id, state: .queued))
            return JobRecord(row)
        }.job()
    }

    /// What a job is that is tried again, as SQL.
    ///
    /// - Parameter now: the parameter that holds the time.
    static func queuedAgain(_ now: String) -> String {
        """
        state = 'queued', attempts = 0, losses = 0, crashes = 0, result = NULL, error = NULL,
        error_code = NULL, media = NULL, started_at = NULL, finished_at = NULL, due_at = \(now), wait = 0, parked = 0
        """
    }

    public func nextDue() async throws -> Date? {
        let now = clock.now().wall
        return try await read { try CatalogueQuery.nextDue($0, after: now) }
    }

    private static func refusal(_ id: JobID, _ what: String, _ database: Database) throws -> AttachPrepError {
        guard let state: String = try database.row("SELECT state FROM job WHERE uuid = ?", [id.text])?[0] else {
            return AttachPrepError(
                .requestNotFound, "There is no job \(id); it never was, or its time of keeping is over.")
        }
        return AttachPrepError(.requestConflict, "The job \(id) is \(state); it \(what).")
    }
}
