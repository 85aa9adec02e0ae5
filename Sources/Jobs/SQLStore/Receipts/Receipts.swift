public import AttachPrepJobs
import AttachPrepModel
import Crypto
import FoundationEssentials
import RichPush
import SafeArithmetic

extension SQLJobStore: ReceiptStore {
    public func store(_ dispatch: Dispatch) async throws {
        let span = Int64(clamping: limits.dispatchSeconds * 1000)
        try await write { transaction in
            let now = transaction.moment.wall
            // Clamp: not negative, and not further in the future than a dispatch is kept.
            let sentAt = max(0, min(dispatch.sentAt.milliseconds, now.adding(clamping: span)))
            let expiresAt = max(now, sentAt).adding(clamping: span)
            let campaign = try Self.openCampaign(dispatch, sentAt: sentAt, in: transaction)
            transaction.later(
                "INSERT INTO dispatch (id, campaign, sent_at, expires_at, recipients) VALUES ($1, $2, $3, $4, $5)",
                [
                    .integer(dispatch.id.number), .integer(campaign), .integer(sentAt), .integer(expiresAt),
                    .integer(Int64(dispatch.recipients)),
                ])
        }
    }

    /// Adds a dispatch to its campaign, which is created when it does not exist.
    ///
    /// - Returns: The row id of the campaign.
    private static func openCampaign(
        _ dispatch: Dispatch, sentAt: Int64, in transaction: StoreTransaction
    ) throws -> Int64 {
        let (dialect, name) = (transaction.dialect, dispatch.campaign.text)
        let known = try transaction.number("SELECT id FROM campaign WHERE name = $1", [.text(name)])
        if known == nil {
            let count = try transaction.number("SELECT count(*) FROM campaign") ?? 0
            guard count < Limits.campaignsMax else {
                throw AttachPrepError(
                    .requestConflict,
                    "There are \(Limits.campaignsMax) campaigns, the maximum; use the name of an existing one.")
            }
        }
        let id = try transaction.number(
            """
            INSERT INTO campaign (name, dispatches, recipients, first_sent_at, last_sent_at, used_at)
            VALUES ($1, 1, $2, $3, $3, $4)
            ON CONFLICT (name) DO UPDATE SET dispatches = campaign.dispatches + 1,
                recipients = campaign.recipients + excluded.recipients,
                first_sent_at = \(dialect.least("campaign.first_sent_at", "excluded.first_sent_at")),
                last_sent_at = \(dialect.greatest("campaign.last_sent_at", "excluded.last_sent_at")),
                used_at = \(dialect.greatest("campaign.used_at", "excluded.used_at"))
            RETURNING id
            """,
            [.text(name), .integer(Int64(dispatch.recipients)), .integer(sentAt), .integer(transaction.moment.wall)])
        guard let id else { throw StorageErrors.unreadable("a campaign") }
        return id
    }

    public func record(_ arrivals: [VerifiedReceipt]) async throws -> [ReceiptStatus] {
        let rows = arrivals.map { ReceiptRow($0) }
        return try await write { transaction in try rows.map { try $0.record(transaction) } }
    }
}

/// A receipt prepared for the database.
private struct ReceiptRow: Sendable {
    /// Half of a SHA-256 is enough to make collisions impossible in practice.
    private static let digestBytes = 16

    private let arrival: VerifiedReceipt
    private let report: [UInt8]

    init(_ arrival: VerifiedReceipt) {
        self.arrival = arrival
        report = Array(SHA256.hash(data: Array(arrival.report.utf8)).prefix(Self.digestBytes))
    }

    func record(_ transaction: StoreTransaction) throws -> ReceiptStatus {
        let (dispatch, now) = (arrival.dispatch.number, transaction.moment.wall)
        let found = try transaction.row(
            """
            SELECT campaign, sent_at, CASE WHEN arrivals < recipients THEN 1 ELSE 0 END, has_surplus FROM dispatch
            WHERE id = $1 AND expires_at > $2 \(transaction.dialect.forUpdate)
            """, [.integer(dispatch), .integer(now)])
        guard let found else { return .expired }
        let isKnown =
            try transaction.number(
                "SELECT 1 FROM receipt WHERE dispatch = $1 AND report = $2", [.integer(dispatch), .blob(report)]) != nil
        if isKnown { return .repeated }
        guard found[2] == true else {
            guard found[3] == false else { return .surplus(isFirst: false) }
            transaction.later("UPDATE dispatch SET has_surplus = 1 WHERE id = $1", [.integer(dispatch)])
            return .surplus(isFirst: true)
        }
        transaction.later(
            "INSERT INTO receipt (dispatch, report) VALUES ($1, $2)", [.integer(dispatch), .blob(report)])
        transaction.later("UPDATE dispatch SET arrivals = arrivals + 1 WHERE id = $1", [.integer(dispatch)])
        return count(found[0], sentAt: found[1], in: transaction)
    }

    private func count(_ campaign: Int64, sentAt: Int64, in transaction: StoreTransaction) -> ReceiptStatus {
        let (now, dialect) = (transaction.moment.wall, transaction.dialect)
        // By the server's clock minus the age that the device measured; the device's own clock may be wrong.
        let shownAt = max(sentAt, now.subtracting(clamping: Int64(clamping: (arrival.ageSeconds * 1000).rounded())))
        let isAttached = arrival.outcome != .text
        let send = isAttached ? shownAt.subtracting(clamping: sentAt) : 0
        let attach = isAttached ? Int64(clamping: (arrival.attachSeconds * 1000).rounded()) : 0
        transaction.later(
            """
            UPDATE campaign SET \(Self.column(arrival.outcome)) = \(Self.column(arrival.outcome)) + 1,
                send_longest = \(dialect.greatest("send_longest", "$1")),
                attach_longest = \(dialect.greatest("attach_longest", "$2")),
                first_arrival_at = \(dialect.least("coalesce(first_arrival_at, $3)", "$3")),
                last_arrival_at = \(dialect.greatest("coalesce(last_arrival_at, $3)", "$3")),
                used_at = \(dialect.greatest("used_at", "$4")) WHERE id = $5
            """, [.integer(send), .integer(attach), .integer(shownAt), .integer(now), .integer(campaign)])
        guard isAttached else { return .counted(sendToAttachSeconds: nil) }
        for (kind, duration) in [(CampaignDuration.sendToAttach, send), (.attach, attach)] {
            transaction.later(
                """
                INSERT INTO campaign_bucket (campaign, kind, bucket, number) VALUES ($1, $2, $3, 1)
                ON CONFLICT (campaign, kind, bucket) DO UPDATE SET number = campaign_bucket.number + 1
                """, [.integer(campaign), .integer(kind.rawValue), .integer(Int64(MillisecondBucket(duration).index))])
        }
        return .counted(sendToAttachSeconds: Double(send) / 1000)
    }

    private static func column(_ outcome: PushReceiptReport.Outcome) -> String {
        switch outcome {
        case .attached: "attached"
        case .thumbnail: "thumbnail"
        case .text: "plain"
        }
    }
}

/// The durations that are measured for an arrival.
private enum CampaignDuration: Int64, Sendable {
    case sendToAttach = 0
    case attach = 1
}

extension SQLJobStore {
    public func campaign(_ name: CampaignName) async throws -> Campaign? {
        try await read { connection in
            try connection.row("SELECT \(Campaign.columns) FROM campaign WHERE name = $1", [.text(name.text)])
                .map { try Campaign($0, connection) }
        }
    }

    public func campaigns(after cursor: CampaignCursor?, limit: Int) async throws -> CampaignPage {
        let count = max(0, limit)
        return try await read { connection in
            let rows = try connection.rows(
                "SELECT \(Campaign.columns) FROM campaign WHERE id < $1 ORDER BY id DESC LIMIT $2",
                [.integer(cursor?.number ?? .max), .integer(Int64(count.adding(clamping: 1)))])
            let shown = rows.prefix(count)
            let next: Int64? = rows.count > count ? shown.last?[0] : nil
            return CampaignPage(
                campaigns: try shown.map { try Campaign($0, connection) },
                next: next.map(CampaignCursor.init(number:)))
        }
    }
}

extension Campaign {
    fileprivate static let columns = """
        id, name, dispatches, recipients, attached, thumbnail, plain, first_sent_at, last_sent_at, send_longest, \
        attach_longest, first_arrival_at, last_arrival_at
        """

    fileprivate init(_ row: SQLRow, _ connection: any SQLConnection) throws {
        guard let name = CampaignName(row[1] as String) else { throw StorageErrors.unreadable("a campaign's name") }
        self.init(
            name: name, dispatches: row[2], recipients: row[3],
            outcomes: [.attached: row[4], .thumbnail: row[5], .text: row[6]],
            firstSentAt: Date(milliseconds: row[7]), lastSentAt: Date(milliseconds: row[8]))
        sendToAttach = SecondsDistribution(
            try Self.buckets(row[0], kind: .sendToAttach, on: connection), longest: row[9])
        attach = SecondsDistribution(try Self.buckets(row[0], kind: .attach, on: connection), longest: row[10])
        firstArrivalAt = (row[11] as Int64?).map { Date(milliseconds: $0) }
        lastArrivalAt = (row[12] as Int64?).map { Date(milliseconds: $0) }
    }

    private static func buckets(
        _ campaign: Int64, kind: CampaignDuration, on connection: any SQLConnection
    ) throws -> [(bucket: MillisecondBucket, count: Int)] {
        try connection.rows(
            "SELECT bucket, number FROM campaign_bucket WHERE campaign = $1 AND kind = $2 ORDER BY bucket",
            [.integer(campaign), .integer(kind.rawValue)]
        ).map { (MillisecondBucket(index: $0[0]), $0[1]) }
    }
}

extension SQLJobStore {
    /// Deletes expired dispatches with their receipts, then campaigns that were unused for `campaignSeconds`.
    func sweepReceipts(at now: Int64) async throws -> SweepReport {
        var report = SweepReport()
        var isDone = false
        while !isDone {
            let gone = try await write { try Self.forgetDispatches($0, at: now) }
            report.receipts += gone.receipts
            isDone = gone.isAll
        }
        let unused = now.subtracting(clamping: Int64(clamping: limits.campaignSeconds * 1000))
        while true {
            // Their dispatches were deleted earlier: dispatches have a shorter retention.
            let count = try await write { transaction in
                try transaction.run(
                    """
                    DELETE FROM campaign WHERE id IN (SELECT id FROM campaign WHERE used_at <= $1
                        ORDER BY used_at LIMIT \(Self.campaignRemovalCountMax))
                    """, [.integer(unused)])
            }
            report.campaigns += count
            if count < Self.campaignRemovalCountMax { return report }
        }
    }

    /// Campaigns removed per transaction; each has about a hundred buckets.
    private static let campaignRemovalCountMax = 10

    /// Deletes at most `removalCountMax` rows.
    private static func forgetDispatches(
        _ transaction: StoreTransaction, at now: Int64
    ) throws -> (receipts: Int, isAll: Bool) {
        var (receipts, left) = (0, removalCountMax)
        while left > 0 {
            let dispatch = try transaction.number(
                "SELECT id FROM dispatch WHERE expires_at <= $1 ORDER BY expires_at LIMIT 1", [.integer(now)])
            guard let dispatch else { return (receipts, true) }
            let gone = try transaction.run(
                """
                DELETE FROM receipt WHERE dispatch = $1 AND report IN (SELECT report FROM receipt
                    WHERE dispatch = $1 ORDER BY report LIMIT $2)
                """, [.integer(dispatch), .integer(Int64(left))])
            (receipts, left) = (receipts + gone, left - gone)
            guard left > 0 else { break }
            try transaction.run("DELETE FROM dispatch WHERE id = $1", [.integer(dispatch)])
            left -= 1
        }
        return (receipts, false)
    }
}

extension Limits {
    /// Stored campaigns, some 10 KB each with their durations; a name for each payload is a mistake.
    static let campaignsMax = 10_000
}
