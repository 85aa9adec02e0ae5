import AttachPrep
import GRDB

/// A notice as the outbox takes it.
struct NewWebhook: Sendable {
    private let id: WebhookID
    private let notice: WebhookNotice
    private let host: String
    private let now: Int64

    init(_ notice: WebhookNotice, at moment: StoreMoment) {
        id = .make(at: .init(milliseconds: moment.wall))
        self.notice = notice
        host = Self.host(of: notice.url)
        now = moment.wall
    }

    /// One that is no address is refused by its sender; it waits for its turn like the others.
    static func host(of url: String) -> String { (try? WebAddress(url))?.host.lowercased() ?? "" }

    func insert(job: Int64, _ database: Database) throws {
        try database.run(
            """
            INSERT INTO webhook (name, job, state, host, url, event, body, created_at, next_at)
            VALUES (?, ?, 'pending', ?, ?, ?, ?, ?, ?)
            """, [id.text, job, host, notice.url, notice.event.rawValue, notice.body, now, now])
    }
}
