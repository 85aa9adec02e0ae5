internal import Crypto
import GRDB
import RichPush
internal import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SQLiteStore: ReceiptStore {
    public func keep(_ dispatch: Dispatch) async throws {
        let now = clock.now().wall
        let span = Int64(clamping: limits.dispatchSeconds * 1000)  // Bounded: floating-point numbers.
        // Nobody plans longer ahead, and nothing was sent before there were clocks that count like this.
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

    /// The number of a campaign, which is made when it is not there.
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
                "There are \(Limits.campaignsMax) campaigns already; count this payload with one of them.")
        }
        try database.run(
            "INSERT INTO campaign (name, first_sent_at, last_sent_at, used_at) VALUES (?1, ?2, ?2, ?3)",
            [name.text, sentAt, now])
        return database.lastInsertedRowID
    }

    public func take(_ arrivals: [Arrival]) async throws -> [ArrivalStanding] {
        let now = clock.now().wall
        let rows = arrivals.map { ReceiptRow($0) }
        return try await write { database, _ in try rows.map { try $0.take(database, at: now) } }
    }
}

/// An arrival on its way into the database.
private struct ReceiptRow: Sendable {
    /// No two names share half of a SHA-256.
    private static let digestBytes = 16

    private let arrival: Arrival
    private let report: Data

    init(_ arrival: Arrival) {
        self.arrival = arrival
        report = Data(SHA256.hash(data: Array(arrival.report.utf8)).prefix(Self.digestBytes))
    }

    func take(_ database: Database, at now: Int64) throws -> ArrivalStanding {
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
    ) throws -> ArrivalStanding {
        // By our clock, less what the device measured: no telling when its own clock thinks it was.
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
