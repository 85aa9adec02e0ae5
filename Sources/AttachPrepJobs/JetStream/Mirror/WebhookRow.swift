import GRDB
import RichPush

/// How long the webhooks of a job that was heard of are left to others, on the steady clock.
struct WebhookHold: Sendable {
    /// When it was heard of, on the wall's clock.
    var heardAt: Int64
    /// What somebody is sending.
    var sentUntil: Int64
    /// What nobody is sending yet; nil for what is ours.
    var freeAt: Int64?

    /// Of a change of our own.
    static func own(at moment: StoreMoment) -> WebhookHold {
        // Bounded: a clock of this machine, less or more than a limit.
        let sentUntil = moment.steady + Int64(Limits.webhookLeaseSeconds * 1000)
        return WebhookHold(heardAt: moment.wall, sentUntil: sentUntil, freeAt: nil)
    }

    /// Of another machine's.
    static func others(at moment: StoreMoment) -> WebhookHold {
        var hold = own(at: moment)
        // Bounded: a clock of this machine, less or more than a limit.
        hold.freeAt = moment.steady + Int64(Limits.webhookGraceSeconds * 1000)
        return hold
    }
}

/// A job's notice as the table of webhooks has it.
enum WebhookRow {
    static func show(_ notice: KeptNotice, of job: String, _ hold: WebhookHold, _ database: Database) throws {
        let held = notice.sender == nil ? hold.freeAt : hold.sentUntil
        // Another machine's clock may be wrong, and this one's may have been when it wrote the date.
        let nextAt = notice.nextAt.map { WebhookWait(tries: notice.attempts).end($0, at: hold.heardAt) }
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
                notice.attempts, notice.createdAt, nextAt, notice.state == .pending ? held : nil,
                notice.endedAt, notice.lastStatus, notice.lastError,
            ])
    }
}
