import GRDB

/// A notice as the outbox takes it.
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
            INSERT INTO webhook (name, job, state, host, url, event, body, created_at, next_at)
            VALUES (?, ?, 'pending', ?, ?, ?, ?, ?, ?)
            """, [id.text, job, notice.host, notice.url, notice.event.rawValue, notice.body, now, now])
    }
}
