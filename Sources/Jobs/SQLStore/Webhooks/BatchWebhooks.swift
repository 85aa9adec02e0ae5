import AttachPrep
public import AttachPrepJobs
import FoundationEssentials
import MediaTypes
import SafeArithmetic

/// The webhooks of batches: a row of `batch` waits until no job of the batch waits or runs.
extension SQLJobStore {
    public func notify(_ url: String, whenDone batch: JobID) async throws {
        let secret = try secrets.stored(url, for: batch.text)
        try await write { transaction in
            transaction.later(
                "INSERT INTO batch (id, url, created_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING",
                [.text(batch.text), .text(secret), .integer(transaction.moment.wall)])
        }
    }

    /// Deletes batches that ended long ago, with their webhooks, and those that never had a job.
    func sweepBatches(at now: Int64) async throws {
        let oldest = now.subtracting(clamping: Int64(clamping: limits.retentionSeconds * 1000))
        try await write { transaction in
            let ids = try transaction.rows(
                """
                SELECT id FROM batch WHERE created_at <= $1
                    AND NOT EXISTS (SELECT 1 FROM job WHERE job.batch = batch.id)
                    AND NOT EXISTS (SELECT 1 FROM webhook WHERE webhook.job = batch.id AND webhook.state = 'pending')
                LIMIT \(Self.removalCountMax)
                """, [.integer(oldest)]
            ).map { $0[0] as String }
            guard !ids.isEmpty else { return }
            let isAmong = transaction.dialect.isAmong
            transaction.later("DELETE FROM webhook WHERE \(isAmong("job", 1))", [.texts(ids)])
            transaction.later("DELETE FROM batch WHERE \(isAmong("id", 1))", [.texts(ids)])
        }
    }
}

/// Finds batches whose jobs have all ended, and adds their webhooks to the outbox.
enum EndedBatches {
    /// Batches per transaction.
    private static let countMax = 50

    private static let condition = """
        ended_at IS NULL AND NOT EXISTS (SELECT 1 FROM job WHERE job.batch = batch.id)
        AND EXISTS (SELECT 1 FROM finished_job WHERE finished_job.batch = batch.id)
        """

    static func exist(_ connection: any SQLConnection) throws -> Bool {
        try connection.row("SELECT 1 FROM batch WHERE \(condition) LIMIT 1") != nil
    }

    /// Alone among claims, so that each batch has one webhook.
    static func notify(_ transaction: StoreTransaction, _ secrets: SecretStorage) throws {
        let rows = try transaction.rows("SELECT id, url FROM batch WHERE \(condition) LIMIT \(countMax)")
        for row in rows {
            let now = transaction.moment.wall
            transaction.later("UPDATE batch SET ended_at = $1 WHERE id = $2", [.integer(now), row.values[0]])
            // A URL that cannot be opened must not stop the others.
            guard let id = JobID(row[0]), let url = try? secrets.opened(row[1], for: id.text) else { continue }
            let counts = try transaction.rows(
                "SELECT state, count(*) FROM finished_job WHERE batch = $1 GROUP BY state", [.text(id.text)])
            let batch = JobBatch(
                id: id,
                Dictionary(
                    counts.compactMap { row in JobState(rawValue: row[0]).map { ($0, row[1] as Int) } },
                    uniquingKeysWith: { $0.adding(clamping: $1) }))
            let notice = try WebhookNotice(for: batch, to: url, at: Date(milliseconds: now))
            try NewWebhook(notice, job: id, secrets).insert(transaction)
        }
    }
}
