import AttachPrep
public import AttachPrepJobs
public import FoundationEssentials
import GRDB
package import RichPush
import SQLiteQueue
import SafeArithmetic

/// Webhooks are stored in the values of their jobs. A sender first stores its token there, so that only one of two
/// concurrent senders proceeds.
///
/// Each machine measures the lease of a token on its own steady clock, from when it received the change.
extension NATSJobQueue: WebhookOutbox {
    public func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook] {
        let moment = clock.now()
        try await mirror.adjustDueTimes(at: moment)
        let claim = WebhookClaim(count: count, leaseUntil: moment.steady.adding(clamping: lease.milliseconds))
        let candidates = try await mirror.claimableWebhooks(claim, at: moment)
        let sender = Int64.random(in: 1 ... .max)
        var claimed: [Webhook] = []
        for (index, candidate) in candidates.enumerated() {
            do {
                if try await claimWebhook(candidate, by: sender) { claimed.append(candidate.webhook) }
            } catch {
                try await mirror.release(candidates[index...].map(\.webhook.id))
                if claimed.isEmpty { throw mapError(error) }
                break
            }
        }
        return claimed
    }

    /// - Returns: False when another sender claimed it first.
    private func claimWebhook(_ candidate: ClaimableWebhook, by sender: Int64) async throws -> Bool {
        let id = candidate.webhook.id.text
        // Succeeds only for the known revision; a newer one arrives in the read model.
        let changed = try await change(candidate.job.value.id, from: candidate.job) { job in
            job.withNotices { $0.id == id ? $0.claimed(by: sender, from: candidate.previousSender) : nil }
        }
        return changed != nil
    }

    public func record(_ id: WebhookID, _ result: WebhookDeliveryResult) async throws {
        let now = clock.now().wall
        try await mapError {
            guard let job = try await mirror.job(of: id) else { return }
            _ = try await change(job, from: nil) { job in
                job.withNotices { $0.id == id.text ? $0.attempted(result, at: now) : nil }
            }
        }
    }

    public func giveUpWebhooks(to url: String, error: String) async throws -> Int {
        let now = clock.now().wall
        return try await mapError {
            var count = 0
            for job in try await mirror.jobs(withNotices: url) {
                count += try await changeNotices(of: job) { notice, _ in notice.givenUp(to: url, error, at: now) }
            }
            return count
        }
    }

    public func replayWebhooks(_ filter: WebhookFilter) async throws -> Int {
        let now = clock.now().wall
        return try await mapError {
            var count = 0
            for (job, ids) in try await mirror.webhooks(filter) {
                count += try await changeNotices(of: job) { notice, job in
                    guard ids.contains(notice.id) else { return nil }
                    return notice.replayed(at: now, callback: JobSecrets.callbackURL(in: job.secret))
                }
            }
            return count
        }
    }

    /// Changes webhooks of a job.
    ///
    /// - Returns: The number of changed webhooks.
    private func changeNotices(of job: String, _ change: (StoredNotice, StoredJob) -> StoredNotice?) async throws -> Int
    {
        var count = 0
        let changed = try await self.change(job, from: nil) { job in
            count = 0
            return job.withNotices { notice in
                let next = change(notice, job)
                if next != nil { count += 1 }
                return next
            }
        }
        return changed == nil ? 0 : count
    }

    public func webhooks(
        _ filter: WebhookFilter, after cursor: WebhookID?, limit: Int
    ) async throws -> WebhookPage {
        let selection = try WebhookSelection(filter)
        return try await mirror.read { try WebhookQuery.page(selection, after: cursor, limit: limit, $0) }
    }

    public func webhookCounts() async throws -> [WebhookState: Int] { try await mirror.read(WebhookQuery.counts) }

    public func nextWebhookDue() async throws -> Date? {
        let moment = clock.now()
        try await mirror.adjustDueTimes(at: moment)
        return try await mirror.read { try WebhookQuery.nextDue($0, at: moment.steady) }
    }
}

/// A webhook as stored on the servers, in the value of its job, so that the job's end and its webhook are stored
/// together.
struct StoredNotice: Codable, Sendable, Hashable {
    var id: String
    var url: String
    var event: WebhookNotice.Event
    var body: String
    var state = WebhookState.pending
    var attempts = 0
    var createdAt: Int64
    /// When the next attempt is due; nil without one.
    var nextAt: Int64?
    var endedAt: Int64?
    var lastStatus: Int?
    var lastError: String?
    /// The token of the sender whose attempt is in progress; nil without one.
    var sender: Int64?
    /// Whether the secrets in its URL were wiped; nil means no.
    var isWiped: Bool?
    /// Nil without traces, as in values of older versions.
    var trace: TraceHeaders?

    init(_ notice: WebhookNotice, at now: Int64) {
        id = WebhookID.make(at: .init(milliseconds: now)).text
        url = notice.url
        event = notice.event
        body = notice.body
        trace = notice.trace
        createdAt = now
        nextAt = now
    }

    var host: String { WebhookNotice(url: url, event: event, body: "").host }
}

extension StoredJob {
    /// Adds a webhook. Only the latest `Limits.webhooksPerJobMax` are kept, for jobs that are retried often.
    mutating func add(_ notice: StoredNotice?) {
        guard let notice else { return }
        notices = ((notices ?? []) + [notice]).suffix(Limits.webhooksPerJobMax)
    }

    /// The job with changed webhooks; nil when none changed.
    ///
    /// - Parameter change: returns nil to leave a webhook unchanged.
    func withNotices(_ change: (StoredNotice) -> StoredNotice?) -> StoredJob? {
        var hasChanged = false
        let changed = (notices ?? []).map { notice in
            guard let next = change(notice) else { return notice }
            hasChanged = true
            return next
        }
        guard hasChanged else { return nil }
        var job = self
        job.notices = changed
        return job
    }
}

/// The state transitions of a webhook: pure. Each returns nil when the transition is not possible now.
extension StoredNotice {
    /// - Parameter former: the token of the sender whose lease has expired; nil without one.
    func claimed(by sender: Int64, from former: Int64?) -> StoredNotice? {
        guard state == .pending, self.sender == former else { return nil }
        var notice = self
        notice.sender = sender
        return notice
    }

    func attempted(_ result: WebhookDeliveryResult, at now: Int64) -> StoredNotice? {
        // A webhook that was delivered or given up meanwhile does not change.
        guard state == .pending else { return nil }
        var notice = self
        notice.attempts = attempts.adding(clamping: 1)
        notice.sender = nil
        switch result {
        case .delivered(let status):
            notice.end(.delivered, status, nil, at: now)
            notice.wipe()
        case .givenUp(let status, let error): notice.end(.givenUp, status, error, at: now)
        case .retry(let date, let status, let error):
            (notice.nextAt, notice.lastStatus, notice.lastError) = (date.milliseconds, status, error)
        }
        return notice
    }

    func givenUp(to url: String, _ error: String, at now: Int64) -> StoredNotice? {
        guard state == .pending, self.url == url else { return nil }
        var notice = self
        notice.sender = nil
        notice.end(.givenUp, lastStatus, error, at: now)
        return notice
    }

    /// - Parameter callback: the callback URL, if the job still has its secrets.
    /// - Returns: Nil when the URL was wiped in both.
    func replayed(at now: Int64, callback: String?) -> StoredNotice? {
        var notice = self
        if isWiped == true {
            guard let callback else { return nil }
            (notice.url, notice.isWiped) = (callback, nil)
        }
        notice.state = .pending
        notice.attempts = 0
        notice.nextAt = now
        (notice.endedAt, notice.sender) = (nil, nil)
        return notice
    }

    private mutating func wipe() {
        let shown = RedactedURL.redact(url)
        guard shown != url else { return }
        (url, isWiped) = (shown, true)
    }

    private mutating func end(_ state: WebhookState, _ status: Int?, _ error: String?, at now: Int64) {
        self.state = state
        (nextAt, endedAt) = (nil, now)
        (lastStatus, lastError) = (status, error)
    }
}

/// A webhook that this machine may claim, with the version of its job.
struct ClaimableWebhook: Sendable {
    var webhook: Webhook
    var job: VersionedJob
    /// The token of the sender whose lease has expired; nil without one.
    var previousSender: Int64?
}

extension JobMirror {
    /// The due webhooks that are not being sent. They are not returned again until `claim.leaseUntil`.
    func claimableWebhooks(_ claim: WebhookClaim, at moment: StoreMoment) async throws -> [ClaimableWebhook] {
        let found = try await write { database, _ -> [(Webhook, VersionedJob)] in
            try WebhookQuery.reclaimExpired(database, at: moment.steady)
            return try claim.apply(database, at: moment.wall).compactMap { webhook in
                let job = try VersionedJob.all("FROM job WHERE uuid = ?", [webhook.job.text], database).first
                return job.map { (webhook, $0) }
            }
        }
        return found.compactMap { webhook, job in
            let notice = job.value.notices?.first { $0.id == webhook.id.text }
            return notice.map { ClaimableWebhook(webhook: webhook, job: job, previousSender: $0.sender) }
        }
    }

    func release(_ webhooks: [WebhookID]) async throws {
        let names = try StoredJSON.text(webhooks.map(\.text))
        try await write { database, _ in
            try database.run(
                "UPDATE webhook SET lease_until = NULL WHERE name IN (SELECT value FROM json_each(?))", [names])
        }
    }

    func job(of webhook: WebhookID) async throws -> String? {
        try await read { database in
            try database.row(
                "SELECT job.uuid FROM webhook JOIN job ON job.id = webhook.job WHERE webhook.name = ?", [webhook.text]
            ).map { $0[0] }
        }
    }

    func jobs(withNotices url: String) async throws -> [String] {
        let host = WebhookNotice(url: url, event: .attachmentPrepared, body: "").host
        return try await read { database in
            try database.rows(
                """
                SELECT DISTINCT job.uuid FROM webhook JOIN job ON job.id = webhook.job
                WHERE webhook.state = 'pending' AND webhook.host = ? AND webhook.url = ?
                """, [host, url]
            ).map { $0[0] }
        }
    }

    /// The IDs of the webhooks that match a filter, by job.
    func webhooks(_ filter: WebhookFilter) async throws -> [String: Set<String>] {
        let selection = try WebhookSelection(filter)
        let rows = try await read { database in
            try StoredRow.fetchAll(
                database,
                sql: """
                    SELECT job.uuid, webhook.name FROM webhook JOIN job ON job.id = webhook.job
                    WHERE ?1 IS NULL AND \(selection.condition)
                    """, arguments: [nil] + StatementArguments(selection.arguments)
            ).map { ($0[0] as String, $0[1] as String) }
        }
        return Dictionary(rows.map { ($0, [$1]) }) { $0.union($1) }
    }
}

/// How long this machine must not claim the webhooks of a received job, in milliseconds of the steady clock.
struct WebhookLeaseTimes: Sendable {
    /// When the job was received, on the wall clock.
    var receivedAt: Int64
    /// The end of the lease of webhooks that are being sent.
    var sentUntil: Int64
    /// When webhooks that are not being sent become claimable; nil means at once.
    var freeAt: Int64?

    /// For a job that this machine changed.
    static func own(at moment: StoreMoment) -> WebhookLeaseTimes {
        let sentUntil = moment.steady + Int64(Limits.webhookLeaseSeconds * 1000)
        return WebhookLeaseTimes(receivedAt: moment.wall, sentUntil: sentUntil, freeAt: nil)
    }

    /// For a job that another machine changed, which may send the webhook itself first.
    static func others(at moment: StoreMoment) -> WebhookLeaseTimes {
        var hold = own(at: moment)
        hold.freeAt = moment.steady + Int64(Limits.webhookGraceSeconds * 1000)
        return hold
    }
}

enum MirroredWebhookTable {
    static func upsert(_ notice: StoredNotice, of job: String, _ hold: WebhookLeaseTimes, _ database: Database) throws {
        let held = notice.sender == nil ? hold.freeAt : hold.sentUntil
        // The date may be from another machine's clock, or from before this machine's clock was corrected.
        let nextAt = notice.nextAt.map { WebhookWait(tries: notice.attempts).end($0, at: hold.receivedAt) }
        try database.run(
            """
            INSERT INTO webhook (name, job, state, host, url, event, body, attempts, created_at, next_at, lease_until,
                ended_at, last_status, last_error, trace)
            VALUES (?1, (SELECT id FROM job WHERE uuid = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
            ON CONFLICT (name) DO UPDATE SET state = ?3, url = ?5, attempts = ?8, next_at = ?10, lease_until = ?11,
                ended_at = ?12, last_status = ?13, last_error = ?14
            """,
            [
                notice.id, job, notice.state.rawValue, notice.host, notice.url, notice.event.rawValue, notice.body,
                notice.attempts, notice.createdAt, nextAt, notice.state == .pending ? held : nil,
                notice.endedAt, notice.lastStatus, notice.lastError, try notice.trace.map { try StoredJSON.text($0) },
            ])
    }
}

extension Limits {
    /// Stored webhooks of one job: each manual retry adds one; the oldest are deleted.
    static let webhooksPerJobMax = 16
    /// On several machines, the one that finished a job sends its webhook; after this time, another one may, in case it
    /// has failed.
    package static let webhookGraceSeconds = 2.0
}
