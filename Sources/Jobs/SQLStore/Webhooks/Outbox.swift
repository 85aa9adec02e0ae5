public import AttachPrepJobs
public import FoundationEssentials
import MediaTypes
import SafeArithmetic

extension SQLJobStore: WebhookOutbox {
    public func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook] {
        try await jumps.adjust(clock.now(), of: self)
        let milliseconds = lease.milliseconds
        // An idle process costs the database one short query without a lock.
        if database.dialect == .postgres, try await nextWebhookDue().map({ $0 > clock.wall() }) ?? true { return [] }
        return try await claims.write { [secrets] transaction in
            try WebhookQuery.reclaimExpired(transaction)
            try EndedBatches.notify(transaction, secrets)
            return try WebhookClaim(count: count, leaseMilliseconds: milliseconds).apply(transaction, secrets: secrets)
        }
    }

    public func record(_ id: WebhookID, _ result: WebhookDeliveryResult) async throws {
        let retryDelay: Int64 = if case .retry(let date, _, _) = result { delay(until: date) } else { 0 }
        try await write { transaction in
            let now = transaction.moment.wall
            let (state, next, ended, status, error): (WebhookState, Int64?, Int64?, Int?, String?) =
                switch result {
                case .delivered(let status): (.delivered, nil, now, status, nil)
                case .retry(_, let status, let error): (.pending, now.adding(clamping: retryDelay), nil, status, error)
                case .givenUp(let status, let error): (.givenUp, nil, now, status, error)
                }
            // A webhook that ended meanwhile is not changed. A delivered one needs no secrets.
            let secret = state == .delivered ? ", secret = CASE WHEN secret IS NULL THEN NULL ELSE '' END" : ""
            transaction.later(
                """
                UPDATE webhook SET state = $1, next_at = $2, ended_at = $3, last_status = $4, last_error = $5,
                    attempts = attempts + 1, lease_until = NULL\(secret)
                WHERE id = $6 AND state = 'pending'
                """,
                [
                    .text(state.rawValue), SQLValue(next), SQLValue(ended), SQLValue(status), SQLValue(error),
                    .text(id.text),
                ])
            guard state == .delivered else { return }
            // The receiver has the secret of sealed files.
            transaction.later(
                """
                UPDATE finished_job SET secret = '\(JobSecrets.wiped)'
                WHERE id = (SELECT job FROM webhook WHERE id = $1) AND state = 'succeeded' AND secret <> ''
                """, [.text(id.text)])
        }
    }

    public func giveUpWebhooks(to url: String, error: String) async throws -> Int {
        let host = WebhookNotice(url: url, event: .attachmentPrepared, body: "").host
        return try await write { [secrets] transaction in
            let rows = try transaction.rows(
                "SELECT id, url, secret FROM webhook WHERE state = 'pending' AND host = $1", [.text(host)])
            let ids = rows.filter { row in
                let secret: String? = row[2]
                let opened = secret.flatMap { try? secrets.opened($0, for: row[0]) }
                let full = opened.flatMap { try? SecretWebhookParts(stored: $0) }?.url ?? row[1]
                return full.utf8.elementsEqual(url.utf8)
            }.map { $0[0] as String }
            return try transaction.run(
                """
                UPDATE webhook SET state = 'givenUp', next_at = NULL, ended_at = $1, last_error = $2,
                    lease_until = NULL
                WHERE \(transaction.dialect.isAmong("id", 3)) AND state = 'pending'
                """, [.integer(transaction.moment.wall), .text(error), .texts(ids)])
        }
    }

    public func nextWebhookDue() async throws -> Date? {
        // Callers wait until the returned date before they claim, so a clock step has to be handled here.
        try await jumps.adjust(clock.now(), of: self)
        return try await read { [self] connection in
            if try EndedBatches.exist(connection) { return clock.wall() }
            let steady = connection.dialect == .postgres ? try databaseMilliseconds(connection) : clock.now().steady
            let next = try WebhookQuery.nextDue(connection, at: steady)
            return next.map { localDate($0, databaseNow: connection.dialect == .postgres ? steady : clock.now().wall) }
        }
    }

    public func webhookCounts() async throws -> [WebhookState: Int] {
        try await read { connection in
            var counts = Dictionary(uniqueKeysWithValues: WebhookState.allCases.map { ($0, 0) })
            for row in try connection.rows("SELECT state, count(*) FROM webhook GROUP BY state") {
                if let state = WebhookState(rawValue: row[0]) { counts[state] = row[1] }
            }
            return counts
        }
    }

    public func webhooks(
        _ filter: WebhookFilter, after cursor: WebhookID?, limit: Int
    ) async throws -> WebhookPage {
        let count = max(0, limit)
        var condition = filter.condition(database.dialect)
        if let cursor { condition.add("id < \(condition.parameter(.text(cursor.text)))") }
        let found = try await read { [condition] connection in
            try connection.rows(
                """
                SELECT \(WebhookRow.columns), \(WebhookRow.callerID) FROM webhook WHERE \(condition.text)
                ORDER BY id DESC LIMIT \(count.adding(clamping: 1))
                """, condition.arguments)
        }.map { try WebhookRow.webhook($0) }
        let page = Array(found.prefix(count))
        return WebhookPage(webhooks: page, next: found.count > count ? page.last?.id : nil)
    }

    public func replayWebhooks(_ filter: WebhookFilter) async throws -> Int {
        let condition = filter.condition(database.dialect)
        return try await write { [secrets] transaction in
            try WebhookQuery.restoreSecrets(condition, in: transaction, secrets: secrets)
            var condition = condition
            let now = condition.parameter(.integer(transaction.moment.wall))
            return try transaction.run(
                """
                UPDATE webhook SET state = 'pending', attempts = 0, next_at = \(now), ended_at = NULL,
                    lease_until = NULL
                WHERE (secret IS NULL OR secret <> '') AND \(condition.text)
                """, condition.arguments)
        }
    }
}

/// Claims webhooks with a limit per host, so that an unreachable receiver with thousands of webhooks does not block
/// others.
private struct WebhookClaim: Sendable {
    var count: Int
    var leaseMilliseconds: Int64

    func apply(_ transaction: StoreTransaction, secrets: SecretStorage) throws -> [Webhook] {
        let now = transaction.moment.wall
        var ids: [String] = []
        for (host, next) in try WebhookQuery.hosts(transaction).sorted(by: { $0.next < $1.next }) {
            guard next <= now, ids.count < count else { break }
            let leased = try transaction.number(
                "SELECT count(*) FROM webhook WHERE state = 'pending' AND lease_until IS NOT NULL AND host = $1",
                [.text(host)])
            let share = min(count - ids.count, Limits.webhooksPerHostMax - Int(clamping: leased ?? 0))
            guard share > 0 else { continue }
            ids += try transaction.rows(
                """
                SELECT id FROM webhook WHERE state = 'pending' AND lease_until IS NULL AND host = $1
                    AND next_at <= $2 ORDER BY next_at, id LIMIT $3
                """, [.text(host), .integer(now), .integer(Int64(share))]
            ).map { $0[0] }
        }
        guard !ids.isEmpty else { return [] }
        let rows = try transaction.rows(
            """
            UPDATE webhook SET lease_until = $1 WHERE \(transaction.dialect.isAmong("id", 2)) AND state = 'pending'
            RETURNING \(WebhookRow.columns)
            """, [.integer(transaction.moment.steady.adding(clamping: leaseMilliseconds)), .texts(ids)])
        // One that cannot be read must not stop the others; its lease expires.
        let webhooks = rows.compactMap { try? WebhookRow.webhook($0, secrets) }
        let byID = Dictionary(webhooks.map { ($0.id.text, $0) }, uniquingKeysWith: { first, _ in first })
        return ids.compactMap { byID[$0] }
    }
}

private enum WebhookQuery {
    /// Clears expired leases, so that the webhooks can be claimed again.
    static func reclaimExpired(_ transaction: StoreTransaction) throws {
        try transaction.run(
            """
            UPDATE webhook SET lease_until = NULL
            WHERE state = 'pending' AND lease_until IS NOT NULL AND lease_until <= $1
            """, [.integer(transaction.moment.steady)])
    }

    static func nextDue(_ connection: any SQLConnection, at steady: Int64) throws -> Int64? {
        let free = try hosts(connection).map(\.next).min()
        let lost = try connection.number(
            """
            SELECT min(next_at) FROM webhook
            WHERE state = 'pending' AND lease_until IS NOT NULL AND lease_until <= $1
            """, [.integer(steady)])
        return [free, lost].compactMap(\.self).min()
    }

    /// Returns the hosts with pending webhooks and the due time of the first one; one index seek each.
    static func hosts(_ connection: any SQLConnection) throws -> [(host: String, next: Int64)] {
        try connection.rows(
            """
            WITH RECURSIVE found (host) AS (
                SELECT min(host) FROM webhook WHERE state = 'pending' AND lease_until IS NULL
                UNION ALL
                SELECT (SELECT min(host) FROM webhook
                    WHERE state = 'pending' AND lease_until IS NULL AND host > found.host)
                FROM found WHERE found.host IS NOT NULL
            )
            SELECT host, (SELECT min(next_at) FROM webhook
                WHERE state = 'pending' AND lease_until IS NULL AND webhook.host = found.host)
            FROM found WHERE host IS NOT NULL
            """
        ).map { ($0[0], $0[1]) }
    }

    /// Restores the URLs of selected webhooks whose jobs still have their secrets.
    static func restoreSecrets(
        _ condition: SQLCondition, in transaction: StoreTransaction, secrets: SecretStorage
    ) throws {
        let rows = try transaction.rows(
            """
            SELECT webhook.id, finished_job.id, finished_job.secret FROM webhook
            JOIN finished_job ON finished_job.id = webhook.job
            WHERE webhook.secret = '' AND finished_job.secret <> '\(JobSecrets.wiped)'
                AND webhook.id IN (SELECT id FROM webhook WHERE \(condition.text))
            """, condition.arguments)
        for row in rows {
            let id: String = row[0]
            guard let text = try? secrets.opened(row[2], for: row[1]), let url = JobSecrets.callbackURL(in: text) else {
                continue
            }
            transaction.later(
                "UPDATE webhook SET secret = $1 WHERE id = $2",
                [.text(try secrets.stored(url, for: id)), .text(id)])
        }
    }
}
