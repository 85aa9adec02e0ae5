import GRDB
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SQLiteStore {
    /// Forgets dispatches whose time is over, with their receipts, then campaigns that nobody has used for long.
    func sweepReceipts(at now: Int64) async throws -> SweepReport {
        var report = SweepReport()
        var isDone = false
        while !isDone {
            let gone = try await write { database, _ in try Self.forgetDispatches(database, at: now) }
            report.receipts += gone.receipts  // Bounded: counts of what is in memory.
            isDone = gone.isAll
        }
        // Bounded: floating-point numbers.
        let unused = now.subtracting(clamping: Int64(clamping: limits.campaignSeconds * 1000))
        while true {
            let count = try await write { database, _ in try Self.forgetCampaigns(database, unusedSince: unused) }
            report.campaigns += count  // Bounded: counts of what is in memory.
            if count < Self.campaignRemovalCountMax { return report }
        }
    }

    /// Campaigns removed in one step: each has some hundred buckets.
    private static let campaignRemovalCountMax = 10

    /// One step: so many rows at most.
    private static func forgetDispatches(
        _ database: Database, at now: Int64
    ) throws -> (receipts: Int, isAll: Bool) {
        var (receipts, left) = (0, removalCountMax)
        while left > 0 {
            let dispatch = try database.number(
                "SELECT id FROM dispatch WHERE expires_at <= ? ORDER BY expires_at LIMIT 1", [now])
            guard let dispatch else { return (receipts, true) }
            let gone = try forgetReceipts(of: dispatch, atMost: left, database)
            (receipts, left) = (receipts + gone, left - gone)  // Bounded: counts of what is in memory.
            guard left > 0 else { break }
            try database.run("DELETE FROM dispatch WHERE id = ?", [dispatch])
            left -= 1
        }
        return (receipts, false)
    }

    /// The first ones in their order: a row after the other, however many more there are.
    private static func forgetReceipts(of dispatch: Int64, atMost count: Int, _ database: Database) throws -> Int {
        let last = try database.row(
            // Bounded: counts of what is in memory.
            "SELECT report FROM receipt WHERE dispatch = ? ORDER BY report LIMIT 1 OFFSET ?", [dispatch, count - 1])
        guard let last else {
            try database.run("DELETE FROM receipt WHERE dispatch = ?", [dispatch])
            return database.changesCount
        }
        try database.run("DELETE FROM receipt WHERE dispatch = ? AND report <= ?", [dispatch, last[0] as Data])
        return database.changesCount
    }

    /// Their payloads are long forgotten: those are kept for a shorter time.
    private static func forgetCampaigns(_ database: Database, unusedSince oldest: Int64) throws -> Int {
        try database.rows(
            """
            DELETE FROM campaign WHERE id IN (SELECT id FROM campaign WHERE used_at <= ?
                ORDER BY used_at LIMIT \(campaignRemovalCountMax)) RETURNING 1
            """, [oldest]
        ).count
    }
}
