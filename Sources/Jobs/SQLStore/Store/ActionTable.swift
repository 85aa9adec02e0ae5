public import AttachPrepJobs
import FoundationEssentials
import MediaTypes
import SafeArithmetic

extension SQLJobStore: ActionLog {
    public func record(_ action: OperatorAction) async throws {
        try await write { transaction in
            transaction.later(
                "INSERT INTO action (date, caller, kind, detail) VALUES ($1, $2, $3, $4)",
                [
                    .integer(transaction.moment.wall), SQLValue(action.caller), .text(action.kind.rawValue),
                    .text(action.detail),
                ])
        }
    }

    public func actions(before number: Int64?, limit: Int) async throws -> [OperatorAction] {
        try await read { connection in
            let rows = try connection.rows(
                "SELECT id, date, caller, kind, detail FROM action WHERE id < $1 ORDER BY id DESC LIMIT $2",
                [.integer(number ?? .max), .integer(Int64(max(0, limit)))])
            return rows.compactMap { row in
                guard let kind = OperatorAction.Kind(rawValue: row[3]) else { return nil }
                var action = OperatorAction(kind, row[4], by: row[2], date: Date(milliseconds: row[1]))
                action.number = row[0]
                return action
            }
        }
    }

    /// Deletes actions of which nobody needs a record any more.
    func sweepActions(at now: Int64) async throws {
        let oldest = now.subtracting(clamping: Int64(Limits.actionSecondsMax * 1000))
        try await write { transaction in
            // Nothing to delete, most of the time: then nothing is changed.
            guard try transaction.row("SELECT 1 FROM action WHERE date < $1 LIMIT 1", [.integer(oldest)]) != nil else {
                return
            }
            transaction.later("DELETE FROM action WHERE date < $1", [.integer(oldest)])
        }
    }
}
