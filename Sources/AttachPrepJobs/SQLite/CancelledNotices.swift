import GRDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Webhooks of jobs that end because they were cancelled. Made before the jobs' secrets are wiped, which may hold their
/// addresses.
struct CancelledNotices {
    private let webhooks: [(job: Int64, webhook: NewWebhook)]

    /// - Parameter condition: which jobs end, as SQL.
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
            // One row that cannot be read must not stop the others from ending.
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
