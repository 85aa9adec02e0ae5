public import AttachPrep
public import AttachPrepJobs
import MediaTypes

/// Changes of many unfinished jobs, a few at a time so that other changes wait for milliseconds only.
extension SQLJobStore {
    /// Jobs per transaction.
    private static let changedCountMax = 200

    public func cancel(_ filter: JobFilter) async throws -> Int {
        let selection = JobSelection(filter, among: [.queued, .running])
        var count = 0
        for state in selection.states {
            var cursor: String? = ""
            while let after = cursor {
                let ids = try await write { [secrets] transaction in
                    let rows = try Self.rows(selection, state: state, after: after, in: transaction)
                    for row in rows {
                        try Self.cancel(ClaimedRow(row), state: state, in: transaction, secrets: secrets)
                    }
                    return rows.map { $0[0] as String }
                }
                count += ids.count
                cursor = ids.last
            }
        }
        return count
    }

    private static func cancel(
        _ row: ClaimedRow, state: JobState, in transaction: StoreTransaction, secrets: SecretStorage
    ) throws {
        let id = row.record.id
        if state == .queued {
            let webhook = CancelledNotice(row, transaction.moment, secrets)
            _ = try JobEnd.cancelled.end(id, from: .queued, transaction)
            webhook.insert(transaction)
            transaction.moved(from: .queued, to: .cancelled)
        } else {
            transaction.later("UPDATE job SET cancelling = 1 WHERE id = $1", [.text(id)])
        }
        if let job = JobID(id) {
            transaction.changes.append(JobFeed.Change(job: job, state: state == .queued ? .cancelled : .running))
        }
    }

    public func change(_ filter: JobFilter, to priority: JobPriority) async throws -> Int {
        let selection = JobSelection(filter, among: [.queued])
        guard !selection.states.isEmpty else { return 0 }
        var count = 0
        var cursor: String? = ""
        while let after = cursor {
            // Alone among claims, which raise the floors of lanes.
            let ids = try await claims.write { transaction in
                let rows = try Self.rows(selection, state: .queued, after: after, in: transaction, isNot: priority)
                for row in rows { try Self.move(row, to: priority, in: transaction) }
                return rows.map { $0[0] as String }
            }
            count += ids.count
            cursor = ids.last
        }
        return count
    }

    private static func move(_ row: SQLRow, to priority: JobPriority, in transaction: StoreTransaction) throws {
        let id: String = row[0]
        var request = try StoredJSON.request(row[2])
        request.jobOptions.priority = priority
        transaction.later(
            "UPDATE job SET lane = $1, parked = 0, request = $2 WHERE id = $3 AND state = 'queued'",
            [.integer(Int64(priority.lane)), .text(try StoredJSON.text(request)), .text(id)])
        transaction.later(
            "UPDATE job SET place = \(Requeue.place("place", now: "$2", transaction.dialect)) WHERE id = $1",
            [.text(id), .integer(transaction.moment.wall)])
        if let job = JobID(id) { transaction.changes.append(JobFeed.Change(job: job, state: .queued)) }
    }

    /// Some of the jobs of a selection after a cursor, in order and locked.
    private static func rows(
        _ selection: JobSelection, state: JobState, after cursor: String, in transaction: StoreTransaction,
        isNot priority: JobPriority? = nil
    ) throws -> [SQLRow] {
        var condition = selection.condition(for: state, transaction.dialect)
        condition.add("id > \(condition.parameter(.text(cursor)))")
        if let priority { condition.add("lane <> \(condition.parameter(.integer(Int64(priority.lane))))") }
        return try transaction.rows(
            """
            SELECT \(ClaimedRow.columns) FROM job WHERE \(condition.text) ORDER BY id LIMIT \(changedCountMax)
            \(transaction.dialect.forUpdate)
            """, condition.arguments)
    }
}
