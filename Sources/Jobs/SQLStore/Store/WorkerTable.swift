public import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import MediaTypes
import SafeArithmetic

/// The workers of a shared database: a row with the last report of each.
extension SQLJobStore: WorkerDirectory {
    public func report(_ worker: WorkerReport) async throws {
        let text = try StoredJSON.text(worker)
        try await write { transaction in
            transaction.later(
                """
                INSERT INTO worker (name, report, seen_at) VALUES ($1, $2, $3)
                ON CONFLICT (name) DO UPDATE SET report = excluded.report, seen_at = excluded.seen_at
                """, [.text(worker.name), .text(text), .integer(transaction.moment.wall)])
        }
    }

    public func withdraw(_ name: String) async throws {
        try await write { $0.later("DELETE FROM worker WHERE name = $1", [.text(name)]) }
    }

    public func workers() async throws -> [WorkerReport] {
        let rows = try await read { [self] connection in
            let oldest = try databaseMilliseconds(connection)
                .subtracting(clamping: Int64(Limits.workerReportSecondsMax * 1000))
            return try connection.rows(
                "SELECT report FROM worker WHERE seen_at >= $1 ORDER BY name", [.integer(oldest)])
        }
        // A report of a later version may have another form; its worker is not shown then.
        return rows.compactMap { try? StoredJSON.value($0[0] as String, "a worker's report") }
    }
}
