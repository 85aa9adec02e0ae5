import GRDB
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SQLiteStore {
    public func campaign(_ name: CampaignName) async throws -> Campaign? {
        try await read { database in
            try database.row("SELECT * FROM campaign WHERE name = ?", [name.text]).map { try Campaign($0, database) }
        }
    }

    public func campaigns(after cursor: CampaignCursor?, limit: Int) async throws -> CampaignPage {
        let count = max(0, limit)
        return try await read { database in
            let rows = try database.rows(
                "SELECT * FROM campaign WHERE id < ? ORDER BY id DESC LIMIT ?",
                [cursor?.number ?? .max, count.adding(clamping: 1)])
            let shown = rows.prefix(count)
            let next: Int64? = rows.count > count ? shown.last?["id"] : nil
            return CampaignPage(
                campaigns: try shown.map { try Campaign($0, database) }, next: next.map(CampaignCursor.init(number:)))
        }
    }
}

extension Campaign {
    fileprivate init(_ row: StoredRow, _ database: Database) throws {
        let text: String = row["name"]
        guard let name = CampaignName(text) else { throw StoreFault.unreadable("a campaign's name") }
        self.init(
            name: name, dispatches: row["dispatches"], recipients: row["recipients"],
            outcomes: [.attached: row["attached"], .thumbnail: row["thumbnail"], .text: row["text"]],
            firstSentAt: Date(milliseconds: row["first_sent_at"]), lastSentAt: Date(milliseconds: row["last_sent_at"]))
        sendToAttach = SecondsDistribution(
            try Self.buckets(row["id"], .sendToAttach, database), longest: row["send_longest"])
        attach = SecondsDistribution(try Self.buckets(row["id"], .attach, database), longest: row["attach_longest"])
        firstArrivalAt = (row["first_arrival_at"] as Int64?).map { Date(milliseconds: $0) }
        lastArrivalAt = (row["last_arrival_at"] as Int64?).map { Date(milliseconds: $0) }
    }

    private static func buckets(
        _ campaign: Int64, _ kind: CampaignDuration, _ database: Database
    ) throws -> [(bucket: MillisecondBucket, count: Int)] {
        try database.rows(
            "SELECT bucket, number FROM campaign_bucket WHERE campaign = ? AND kind = ? ORDER BY bucket",
            [campaign, kind.rawValue]
        ).map { (MillisecondBucket(index: $0[0]), $0[1]) }
    }
}
