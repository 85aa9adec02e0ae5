import AttachPrep
import GRDB
import Synchronization

/// Jobs and webhooks that run alone, because a process ended while it had them (`CrashPolicy`).
///
/// Such a job is parked with a mark of its own, so that ordinary claims pass it over; it keeps the mark until it has
/// ended. A webhook that was being sent during a crash is sent alone, too: its answer may have crashed the process.
enum JobIsolation {
    /// In `job.parked`; 1 and 2 are `JobParking`'s.
    static let mark = 3

    /// Whether anything that runs alone is in flight, whether anything is at all, and whether anything waits to run
    /// alone. Each is one seek in an index that is nearly always empty.
    static func facts(
        _ database: Database, at moment: StoreMoment
    ) throws -> (hasAlone: Bool, inFlight: Bool, isAloneDue: Bool) {
        let row = try database.row(
            """
            SELECT EXISTS (SELECT 1 FROM job INDEXED BY job_lease WHERE state = 'running' AND parked = \(mark))
                    OR EXISTS (SELECT 1 FROM webhook INDEXED BY webhook_leased
                        WHERE state = 'pending' AND lease_until IS NOT NULL AND crashes > 0),
                EXISTS (SELECT 1 FROM job INDEXED BY job_lease WHERE state = 'running')
                    OR EXISTS (SELECT 1 FROM webhook INDEXED BY webhook_leased
                        WHERE state = 'pending' AND lease_until IS NOT NULL),
                EXISTS (SELECT 1 FROM job INDEXED BY job_alone
                        WHERE state = 'queued' AND parked = \(mark) AND due_at <= ?1)
                    OR EXISTS (SELECT 1 FROM webhook INDEXED BY webhook_alone
                        WHERE state = 'pending' AND lease_until IS NULL AND crashes > 0 AND next_at <= ?1)
            """, [moment.wall])
        return (row?[0] ?? false, row?[1] ?? false, row?[2] ?? false)
    }

    /// The next job that runs alone; those with fewer crashes first: they are more likely to be innocent.
    static let nextJob = """
        SELECT id FROM job INDEXED BY job_alone
        WHERE state = 'queued' AND parked = \(mark) AND due_at <= ?1 ORDER BY crashes, due_at, id LIMIT 1
        """

    static let nextWebhook = """
        SELECT id FROM webhook INDEXED BY webhook_alone
        WHERE state = 'pending' AND lease_until IS NULL AND crashes > 0 AND next_at <= ?1
        ORDER BY crashes, next_at, id LIMIT 1
        """

    /// Since version 4.
    static let schema = """
        ALTER TABLE job ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE webhook ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX job_alone ON job (due_at) WHERE state = 'queued' AND parked = \(mark);
        CREATE INDEX webhook_alone ON webhook (next_at)
            WHERE state = 'pending' AND lease_until IS NULL AND crashes > 0;
        """
}

/// Whether the last job that a store gave ran alone: ordinary ones have their turn in between.
final class IsolationTurn: Sendable {
    private let state = Mutex(false)

    var wasAlone: Bool { state.withLock(\.self) }

    func note(alone: Bool) { state.withLock { $0 = alone } }
}
