import GRDB
import RichPush

/// How long the webhooks of a job that was heard of are left to others, on the steady clock.
struct WebhookHold: Sendable {
    /// What somebody is sending.
    var sentUntil: Int64
    /// What nobody is sending yet; nil for what is ours.
    var freeAt: Int64?

    /// Of a change of our own.
    static func own(at steady: Int64) -> WebhookHold {
        // Bounded: a clock of this machine, less or more than a limit.
        WebhookHold(sentUntil: steady + Int64(Limits.webhookLeaseSeconds * 1000), freeAt: nil)
    }

    /// Of another machine's.
    static func others(at steady: Int64) -> WebhookHold {
        var hold = own(at: steady)
        // Bounded: a clock of this machine, less or more than a limit.
        hold.freeAt = steady + Int64(Limits.webhookGraceSeconds * 1000)
        return hold
    }
}

/// A job's notice as the table of webhooks has it.
enum WebhookRow {
    static func show(_ notice: KeptNotice, of job: String, _ hold: WebhookHold, _ database: Database) throws {
        let held = notice.sender == nil ? hold.freeAt : hold.sentUntil
        try database.run(
            """
            INSERT INTO webhook (name, job, state, host, url, event, body, attempts, created_at, next_at, lease_until,
                ended_at, last_status, last_error)
            VALUES (?1, (SELECT id FROM job WHERE uuid = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
            ON CONFLICT (name) DO UPDATE SET state = ?3, url = ?5, attempts = ?8, next_at = ?10, lease_until = ?11,
                ended_at = ?12, last_status = ?13, last_error = ?14
            """,
            [
                notice.id, job, notice.state.rawValue, notice.host, notice.url, notice.event.rawValue, notice.body,
                notice.attempts, notice.createdAt, notice.nextAt, notice.state == .pending ? held : nil,
                notice.endedAt, notice.lastStatus, notice.lastError,
            ])
    }
}
