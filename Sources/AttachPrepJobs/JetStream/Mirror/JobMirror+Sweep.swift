import GRDB
import RichPush
import SafeArithmetic

/// What housekeeping asks.
extension JobMirror {
    func finished(_ state: JobState, until oldest: Int64, count: Int) async throws -> [KnownJob] {
        try await known(
            "uuid IN (SELECT uuid FROM job WHERE state = ? AND finished_at <= ? ORDER BY finished_at LIMIT ?)",
            [state.rawValue, oldest, count])
    }

    /// Jobs that are due since then, the oldest of each lane, and jobs that run and were not heard of since then.
    func doubtful(dueUntil: Int64, heardUntil: Int64, count: Int) async throws -> [KnownJob] {
        var found: [KnownJob] = []
        for lane in 0..<3 {
            found += try await known(  // Bounded: lists, not numbers.
                """
                uuid IN (SELECT uuid FROM job INDEXED BY job_queued WHERE state = 'queued' AND parked = 0 AND lane = ?
                    AND due_at <= ? ORDER BY due_at LIMIT ?)
                """, [lane, dueUntil, count])
        }
        return try await found
            // Bounded: lists, not numbers.
            + known(
                "heard_at <= ? AND uuid IN (SELECT uuid FROM job WHERE state = 'running') LIMIT ?",
                [heardUntil, count])
    }

    func drafts(heardUntil: Int64, count: Int) async throws -> [KnownJob] {
        try await read { try MirrorRow.drafts("heard_at <= ? LIMIT ?", [heardUntil, count], $0) }
    }

    private func known(_ condition: String, _ arguments: StatementArguments) async throws -> [KnownJob] {
        try await read { try KnownJob.all("FROM job WHERE \(condition)", arguments, $0) }
    }

    /// Callers' words that came before that.
    func words(until oldest: Int64, count: Int) async throws -> [(key: String, revision: UInt64)] {
        let rows = try await read { database in
            try database.rows("SELECT key, revision FROM word WHERE created_at <= ? LIMIT ?", [oldest, count])
                .map { ($0[0] as String, $0[1] as Int64) }
        }
        return rows.map { ($0, UInt64(clamping: $1)) }
    }

    func emptyBatches(heardUntil: Int64, count: Int) async throws -> [String] {
        try await read { database in
            try database.rows(
                """
                SELECT id FROM batch WHERE heard_at <= ?
                    AND NOT EXISTS (SELECT 1 FROM job WHERE job.batch = batch.id) LIMIT ?
                """, [heardUntil, count]
            ).map { $0[0] }
        }
    }

    /// What is left of a job that was removed.
    struct Mark: Sendable {
        var id: String
        var revision: UInt64
    }

    /// Those of jobs that were removed before that.
    func removed(heardUntil: Int64, count: Int) async throws -> [Mark] {
        try await read { database in
            try database.rows(
                "SELECT uuid, revision FROM removed WHERE heard_at <= ? LIMIT ?", [heardUntil, count]
            ).map { Mark(id: $0[0], revision: UInt64(clamping: $0[1] as Int64)) }
        }
    }

    func erase(_ mark: Mark) async throws {
        try await write { database, _ in
            try database.run(
                "DELETE FROM removed WHERE uuid = ? AND revision = ?", [mark.id, Int64(clamping: mark.revision)])
        }
    }
}
