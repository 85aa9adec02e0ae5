public import AttachPrepJobs
import AttachPrepModel
import Crypto
import FoundationEssentials
import GRDB
import RichPush
import SafeArithmetic

extension SQLiteStore: ReceiptStore {
    public func store(_ dispatch: Dispatch) async throws {
        let now = clock.now().wall
        let span = Int64(clamping: limits.dispatchSeconds * 1000)
        // Clamp: not negative, and not further in the future than a dispatch is kept.
        let sentAt = max(0, min(dispatch.sentAt.milliseconds, now.adding(clamping: span)))
        let expiresAt = max(now, sentAt).adding(clamping: span)
        try await write { database, _ in
            let campaign = try Self.openCampaign(dispatch.campaign, sentAt: sentAt, database, at: now)
            try database.run(
                "UPDATE campaign SET dispatches = dispatches + 1, recipients = recipients + ? WHERE id = ?",
                [dispatch.recipients, campaign])
            try database.run(
                "INSERT INTO dispatch (id, campaign, sent_at, expires_at, recipients) VALUES (?, ?, ?, ?, ?)",
                [dispatch.id.number, campaign, sentAt, expiresAt, dispatch.recipients])
        }
    }

    /// Returns the row id of a campaign, which is created when it does not exist.
    private static func openCampaign(
        _ name: CampaignName, sentAt: Int64, _ database: Database, at now: Int64
    ) throws -> Int64 {
        let known = try database.number(
            """
            UPDATE campaign SET first_sent_at = min(first_sent_at, ?1), last_sent_at = max(last_sent_at, ?1),
                used_at = max(used_at, ?2) WHERE name = ?3 RETURNING id
            """, [sentAt, now, name.text])
        if let known { return known }
        let count = try database.number("SELECT count(*) FROM campaign") ?? 0
        guard count < Limits.campaignsMax else {
            throw AttachPrepError(
                .requestConflict,
                "There are \(Limits.campaignsMax) campaigns, the maximum; use the name of an existing one.")
        }
        try database.run(
            "INSERT INTO campaign (name, first_sent_at, last_sent_at, used_at) VALUES (?1, ?2, ?2, ?3)",
            [name.text, sentAt, now])
        return database.lastInsertedRowID
    }

    public func record(_ arrivals: [VerifiedReceipt]) async throws -> [ReceiptStatus] {
        let now = clock.now().wall
        let rows = arrivals.map { ReceiptRow($0) }
        return try await write { database, _ in try rows.map { try $0.record(database, at: now) } }
    }
}

/// A receipt prepared for the database.
private struct ReceiptRow: Sendable {
    /// Half of a SHA-256 is enough to make collisions impossible in practice.
    private static let digestBytes = 16

    private let arrival: VerifiedReceipt
    private let report: Data

    init(_ arrival: VerifiedReceipt) {
        self.arrival = arrival
        report = Data(SHA256.hash(data: Array(arrival.report.utf8)).prefix(Self.digestBytes))
    }

    func record(_ database: Database, at now: Int64) throws -> ReceiptStatus {
        let dispatch = arrival.dispatch.number
        let found = try database.row(
            """
            SELECT campaign, sent_at, arrivals < recipients, has_surplus,
                EXISTS (SELECT 1 FROM receipt WHERE receipt.dispatch = dispatch.id AND report = ?2)
            FROM dispatch WHERE id = ?1 AND expires_at > ?3
            """, [dispatch, report, now])
        guard let found else { return .expired }
        guard found[4] == false else { return .repeated }
        guard found[2] == true else {
            guard found[3] == false else { return .surplus(isFirst: false) }
            try database.run("UPDATE dispatch SET has_surplus = 1 WHERE id = ?", [dispatch])
            return .surplus(isFirst: true)
        }
        try database.run("INSERT INTO receipt (dispatch, report) VALUES (?, ?)", [dispatch, report])
        try database.run("UPDATE dispatch SET arrivals = arrivals + 1 WHERE id = ?", [dispatch])
        return try count(found[0], sentAt: found[1], database, at: now)
    }

    private func count(
        _ campaign: Int64, sentAt: Int64, _ database: Database, at now: Int64
    ) throws -> ReceiptStatus {
        // By the server's clock minus the age that the device measured; the device's own clock may be wrong.
        let shownAt = max(sentAt, now.subtracting(clamping: Int64(clamping: (arrival.ageSeconds * 1000).rounded())))
        let isAttached = arrival.outcome != .text
        let send = isAttached ? shownAt.subtracting(clamping: sentAt) : 0
        let attach = isAttached ? Int64(clamping: (arrival.attachSeconds * 1000).rounded()) : 0
        try database.run(
            """
            UPDATE campaign SET \(Self.column(arrival.outcome)) = \(Self.column(arrival.outcome)) + 1,
                send_longest = max(send_longest, ?1), attach_longest = max(attach_longest, ?2),
                first_arrival_at = min(ifnull(first_arrival_at, ?3), ?3),
                last_arrival_at = max(ifnull(last_arrival_at, ?3), ?3), used_at = max(used_at, ?4) WHERE id = ?5
            """, [send, attach, shownAt, now, campaign])
        guard isAttached else { return .counted(sendToAttachSeconds: nil) }
        for (kind, duration) in [(CampaignDuration.sendToAttach, send), (.attach, attach)] {
            try database.run(
                """
                INSERT INTO campaign_bucket (campaign, kind, bucket, number) VALUES (?, ?, ?, 1)
                ON CONFLICT DO UPDATE SET number = number + 1
                """, [campaign, kind.rawValue, MillisecondBucket(duration).index])
        }
        return .counted(sendToAttachSeconds: Double(send) / 1000)
    }

    private static func column(_ outcome: PushReceiptReport.Outcome) -> String {
        switch outcome {
        case .attached: "attached"
        case .thumbnail: "thumbnail"
        case .text: "text"
        }
    }
}

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
        guard let name = CampaignName(text) else { throw StorageErrors.unreadable("a campaign's name") }
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

extension SQLiteStore {
    /// Deletes expired dispatches with their receipts, then campaigns that were unused for `campaignSeconds`.
    func sweepReceipts(at now: Int64) async throws -> SweepReport {
        var report = SweepReport()
        var isDone = false
        while !isDone {
            let gone = try await write { database, _ in try Self.forgetDispatches(database, at: now) }
            report.receipts += gone.receipts
            isDone = gone.isAll
        }
        let unused = now.subtracting(clamping: Int64(clamping: limits.campaignSeconds * 1000))
        while true {
            let count = try await write { database, _ in try Self.forgetCampaigns(database, unusedSince: unused) }
            report.campaigns += count
            if count < Self.campaignRemovalCountMax { return report }
        }
    }

    /// Campaigns removed per transaction; each has about a hundred buckets.
    private static let campaignRemovalCountMax = 10

    /// Deletes at most `removalCountMax` rows.
    private static func forgetDispatches(
        _ database: Database, at now: Int64
    ) throws -> (receipts: Int, isAll: Bool) {
        var (receipts, left) = (0, removalCountMax)
        while left > 0 {
            let dispatch = try database.number(
                "SELECT id FROM dispatch WHERE expires_at <= ? ORDER BY expires_at LIMIT 1", [now])
            guard let dispatch else { return (receipts, true) }
            let gone = try forgetReceipts(of: dispatch, atMost: left, database)
            (receipts, left) = (receipts + gone, left - gone)
            guard left > 0 else { break }
            try database.run("DELETE FROM dispatch WHERE id = ?", [dispatch])
            left -= 1
        }
        return (receipts, false)
    }

    /// Deletes the first `count` receipts of a dispatch in key order.
    private static func forgetReceipts(of dispatch: Int64, atMost count: Int, _ database: Database) throws -> Int {
        let last = try database.row(
            "SELECT report FROM receipt WHERE dispatch = ? ORDER BY report LIMIT 1 OFFSET ?", [dispatch, count - 1])
        guard let last else {
            try database.run("DELETE FROM receipt WHERE dispatch = ?", [dispatch])
            return database.changesCount
        }
        try database.run("DELETE FROM receipt WHERE dispatch = ? AND report <= ?", [dispatch, last[0] as Data])
        return database.changesCount
    }

    /// Their dispatches were deleted earlier: dispatches have a shorter retention.
    private static func forgetCampaigns(_ database: Database, unusedSince oldest: Int64) throws -> Int {
        try database.rows(
            """
            DELETE FROM campaign WHERE id IN (SELECT id FROM campaign WHERE used_at <= ?
                ORDER BY used_at LIMIT \(campaignRemovalCountMax)) RETURNING 1
            """, [oldest]
        ).count
    }
}

extension Limits {
    /// Stored campaigns, some 10 KB each with their durations; a name for each payload is a mistake.
    static let campaignsMax = 10_000
}
