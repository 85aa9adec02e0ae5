import AttachPrep
import GRDB
import RichPush

/// Takes the secrets out of the address of a webhook that was delivered: user info, and values of query keys that sign.
///
/// It can be replayed all the same while its job still has its own secrets, as failed and dead jobs do until they are
/// purged, or when its address had none.
enum WebhookWiping {
    /// In `webhook.url_wiped`.
    enum Mark: Int {
        case unexamined = 0
        case wiped = 1
        case hadNoSecrets = 2
    }

    /// Since version 4.
    static let schema = """
        ALTER TABLE webhook ADD COLUMN url_wiped INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX webhook_unexamined ON webhook (id) WHERE state = 'delivered' AND url_wiped = 0;
        """

    /// Looked at in one step.
    static let countMax = 500

    /// Wipes the delivered ones that were not looked at: this step's, and those of versions before it.
    ///
    /// - Returns: how many were looked at.
    @discardableResult
    static func wipeDelivered(_ database: Database) throws -> Int {
        let rows = try database.rows(
            """
            SELECT id, url FROM webhook INDEXED BY webhook_unexamined
            WHERE state = 'delivered' AND url_wiped = 0 LIMIT \(countMax)
            """)
        for row in rows {
            let (id, url): (Int64, String) = (row[0], row[1])
            let shown = RedactedURL.redact(url)
            let mark = shown == url ? Mark.hadNoSecrets : .wiped
            try database.run(
                "UPDATE webhook SET url = ?, url_wiped = ? WHERE id = ?", [shown, mark.rawValue, id])
        }
        return rows.count
    }

    /// Gives those that a selection chooses their addresses back, where their jobs still have them.
    static func restore(_ selection: WebhookSelection, _ database: Database) throws {
        let rows = try StoredRow.fetchAll(
            database,
            sql: """
                SELECT webhook.id, job.secret FROM webhook JOIN job ON job.id = webhook.job
                WHERE ?1 IS NULL AND webhook.url_wiped = \(Mark.wiped.rawValue) AND job.secret IS NOT NULL
                    AND job.secret <> '\(JobSecrets.wiped)' AND \(selection.condition)
                """, arguments: [nil] + StatementArguments(selection.arguments))
        for row in rows {
            let (id, secret): (Int64, String) = (row[0], row[1])
            guard let url = JobSecrets.callbackURL(in: secret) else { continue }
            try database.run(
                "UPDATE webhook SET url = ?, url_wiped = ? WHERE id = ?", [url, Mark.unexamined.rawValue, id])
        }
    }
}

extension JobSecrets {
    /// The address to be told at, of secrets as they are kept; nil when they were wiped or have none.
    static func callbackURL(in text: String?) -> String? {
        guard let text, text != wiped, let secrets: JobSecrets = try? StoredJSON.value(text, "a job's secrets") else {
            return nil
        }
        return secrets.callbackURL
    }
}
