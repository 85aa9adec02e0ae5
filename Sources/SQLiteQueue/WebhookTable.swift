import AttachPrep
package import AttachPrepJobs
package import FoundationEssentials
package import GRDB
import RichPush

/// A row of `webhook`, with the id of its job.
enum WebhookRecord {
    static let columns = """
        webhook.name, job.uuid, webhook.url, webhook.event, webhook.body, webhook.state, webhook.attempts,
        webhook.created_at, webhook.next_at, webhook.ended_at, webhook.last_status, webhook.last_error,
        webhook.trace
        """

    static func webhook(_ row: StoredRow) throws -> Webhook {
        guard let id = WebhookID(row[0]), let job = JobID(row[1]), let event = WebhookNotice.Event(rawValue: row[3]),
            let state = WebhookState(rawValue: row[5])
        else { throw StorageErrors.unreadable("a webhook") }
        var webhook = Webhook(
            id: id, job: job, notice: WebhookNotice(url: row[2], event: event, body: row[4]), state: state,
            attempts: row[6], createdAt: Date(milliseconds: row[7]))
        webhook.nextAt = (row[8] as Int64?).map { Date(milliseconds: $0) }
        webhook.endedAt = (row[9] as Int64?).map { Date(milliseconds: $0) }
        webhook.lastStatus = row[10]
        webhook.lastError = row[11]
        // An unreadable one must not stop the webhook.
        webhook.notice.trace = (row[12] as String?).flatMap { try? StoredJSON.value($0, "a webhook's trace") }
        return webhook
    }
}

/// A notice as a row of the outbox.
struct NewWebhook: Sendable {
    private let id: WebhookID
    private let notice: WebhookNotice
    private let now: Int64

    init(_ notice: WebhookNotice, at moment: StoreMoment) {
        id = .make(at: .init(milliseconds: moment.wall))
        self.notice = notice
        now = moment.wall
    }

    func insert(job: Int64, _ database: Database) throws {
        try database.run(
            """
            INSERT INTO webhook (name, job, state, host, url, event, body, created_at, next_at,
                trace)
            VALUES (?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                id.text, job, notice.host, notice.url, notice.event.rawValue, notice.body, now, now,
                try notice.trace.map { try StoredJSON.text($0) },
            ])
    }
}

/// Webhooks of jobs that end by cancellation. Created before the secrets of the jobs are deleted, because those may
/// contain the webhook URLs.
struct CancelledNotices {
    private let webhooks: [(job: Int64, webhook: NewWebhook)]

    /// - Parameter condition: SQL condition of the jobs that end.
    init(
        _ condition: String, _ arguments: StatementArguments, index: String = "", _ database: Database,
        at moment: StoreMoment
    ) throws {
        let rows = try database.rows(
            """
            SELECT \(ClaimedRecord.columns), id FROM job \(index)
            WHERE \(condition) AND instr(request, '"callbackURL"') > 0
            """, arguments)
        webhooks = rows.compactMap { row in
            // An unreadable row must not prevent the other jobs from ending.
            guard let job = try? ClaimedRecord(row, token: 0).claimed(),
                let notice = WebhookNotice(for: job, .cancelled, at: nil, date: Date(milliseconds: moment.wall))
            else { return nil }
            return (row[ClaimedRecord.columnsCount], NewWebhook(notice, at: moment))
        }
    }

    func insert(_ database: Database) throws {
        for (job, webhook) in webhooks { try webhook.insert(job: job, database) }
    }
}

/// Queries on webhooks that both drivers use.
package enum WebhookQuery {
    /// Clears expired leases, so that the webhooks can be claimed again.
    package static func reclaimExpired(_ database: Database, at steady: Int64) throws {
        try database.run(
            """
            UPDATE webhook SET lease_until = NULL
            WHERE state = 'pending' AND lease_until IS NOT NULL AND lease_until <= ?
            """, [steady])
    }

    package static func nextDue(_ database: Database, at steady: Int64) throws -> Date? {
        let free = try WebhookClaim.hosts(database).map(\.next).min()
        let lost = try database.number(
            """
            SELECT min(next_at) FROM webhook
            WHERE state = 'pending' AND lease_until IS NOT NULL AND lease_until <= ?
            """, [steady])
        return [free, lost].compactMap(\.self).min().map { Date(milliseconds: $0) }
    }

    package static func counts(_ database: Database) throws -> [WebhookState: Int] {
        var counts = Dictionary(uniqueKeysWithValues: WebhookState.allCases.map { ($0, 0) })
        for row in try database.rows("SELECT state, count(*) FROM webhook GROUP BY state") {
            if let state = WebhookState(rawValue: row[0]) { counts[state] = row[1] }
        }
        return counts
    }

    package static func page(
        _ selection: WebhookSelection, after cursor: WebhookID?, limit: Int, _ database: Database
    ) throws -> WebhookPage {
        let count = max(0, limit)
        let found = try StoredRow.fetchAll(
            database,
            sql: """
                SELECT \(WebhookRecord.columns) FROM webhook JOIN job ON job.id = webhook.job
                WHERE \(selection.condition) AND (?1 IS NULL OR webhook.name < ?1)
                ORDER BY webhook.name DESC LIMIT \(count + 1)
                """, arguments: [cursor?.text] + StatementArguments(selection.arguments)
        ).map(WebhookRecord.webhook)
        let page = Array(found.prefix(count))
        return WebhookPage(webhooks: page, next: found.count > count ? page.last?.id : nil)
    }
}

/// A filter as an SQL condition over webhooks; its parameters start at `?2`.
package struct WebhookSelection: Sendable {
    package private(set) var condition = "1"
    package private(set) var arguments: [(any DatabaseValueConvertible & Sendable)?] = []

    package init(_ filter: WebhookFilter) throws {
        if let states = filter.states {
            add("webhook.state IN (SELECT value FROM json_each", try StoredJSON.text(states.map(\.rawValue)))
        }
        if let ids = filter.ids {
            add("webhook.name IN (SELECT value FROM json_each", try StoredJSON.text(ids.map(\.text)))
        }
        if let job = filter.job {
            condition += " AND job.uuid = ?\(arguments.count + 2)"
            arguments.append(job.text)
        }
    }

    private mutating func add(_ part: String, _ list: String) {
        condition += " AND \(part)(?\(arguments.count + 2)))"
        arguments.append(list)
    }
}

/// Removes secrets from the URLs of delivered webhooks: user info, and values of query keys that contain secrets or
/// signatures.
///
/// A redacted webhook can be replayed while its job still has its secrets, as failed and dead jobs do until they are
/// purged, or when its URL contained no secrets.
enum WebhookRedaction {
    /// The value of `webhook.url_wiped`.
    enum Mark: Int {
        case unexamined = 0
        case wiped = 1
        case hadNoSecrets = 2
    }

    /// Maximum number of webhooks per transaction.
    static let countMax = 500

    /// Redacts delivered webhooks that were not examined yet.
    ///
    /// - Returns: The number of examined webhooks.
    @discardableResult
    static func redactDelivered(_ database: Database) throws -> Int {
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

    /// Restores the URLs of the selected webhooks whose jobs still have their secrets.
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
