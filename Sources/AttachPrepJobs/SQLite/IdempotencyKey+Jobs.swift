import GRDB
import RichPush

extension IdempotencyKey {
    /// The jobs of an earlier submission with this key; nil when there was none, or it is too long ago.
    ///
    /// - Throws: `request.conflict` when that had another body.
    func jobs(_ database: Database, at now: Int64) throws -> [JobRecord]? {
        // Bounded: a clock of this machine, less or more than a limit.
        let oldest = now - Int64(Limits.idempotencySecondsMax * 1000)
        let found = try database.row(
            "SELECT digest, jobs FROM idempotency WHERE caller = ? AND key = ? AND created_at > ?",
            [caller, key, oldest])
        guard let found else { return nil }
        let digest: String = found[0]
        guard digest == bodyDigest else {
            throw AttachPrepError(
                .requestConflict,
                "This Idempotency-Key came with another body less than a day ago; take a new key for a new request.")
        }
        let ids: String = found[1]
        let jobs = try database.rows(
            """
            SELECT \(JobRecord.columns) FROM json_each(?) AS wanted JOIN job ON job.uuid = wanted.value
            ORDER BY wanted.key
            """, [ids])
        // Purged since then: nothing speaks against doing it again.
        return jobs.isEmpty && ids != "[]" ? nil : jobs.map(JobRecord.init)
    }

    func keep(_ jobs: [JobID], _ database: Database, at now: Int64) throws {
        try database.run(
            "INSERT OR REPLACE INTO idempotency (caller, key, digest, created_at, jobs) VALUES (?, ?, ?, ?, ?)",
            [caller, key, bodyDigest, now, try StoredJSON.text(jobs)])
    }
}

extension IdempotencyKey {
    /// Forgets some of those that are too old.
    ///
    /// - Returns: how many there were.
    static func forget(_ database: Database, at now: Int64) throws -> Int {
        // Bounded: a clock of this machine, less a day.
        let oldest = now - Int64(Limits.idempotencySecondsMax * 1000)
        return try database.rows(
            """
            DELETE FROM idempotency WHERE (caller, key) IN (SELECT caller, key FROM idempotency
                WHERE created_at <= ? LIMIT \(SQLiteStore.removalCountMax)) RETURNING 1
            """, [oldest]
        ).count
    }
}
