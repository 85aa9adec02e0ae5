import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import MediaTypes

extension SQLJobStore: PauseStore {
    public func pauses() async throws -> [JobPause] {
        try await read { [self] connection in
            let now = try databaseMilliseconds(connection)
            let rows = try connection.rows("SELECT target, name, since, caller, reason FROM pause ORDER BY since DESC")
            return rows.compactMap { row in
                PauseTarget(kind: row[0], name: row[1]).map { target in
                    JobPause(
                        target: target, since: localDate(row[2], databaseNow: now), caller: row[3], reason: row[4])
                }
            }
        }
    }

    public func pause(_ target: PauseTarget, reason: String?, by caller: String?) async throws -> JobPause {
        // Alone among claims, so that none of them takes such a job after this call has returned.
        try await claims.write { transaction in
            let others = try transaction.number(
                "SELECT count(*) FROM pause WHERE NOT (target = $1 AND name = $2)",
                [.text(target.kind), .text(target.name)])
            guard (others ?? 0) < Int64(Limits.pausesMax) else { throw AttachPrepError.tooManyPauses }
            let now = transaction.moment.wall
            transaction.later(
                """
                INSERT INTO pause (target, name, since, caller, reason) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (target, name) DO UPDATE SET since = excluded.since, caller = excluded.caller,
                    reason = excluded.reason
                """,
                [.text(target.kind), .text(target.name), .integer(now), SQLValue(caller), SQLValue(reason)])
            return JobPause(target: target, since: Date(milliseconds: now), caller: caller, reason: reason)
        }
    }

    public func resume(_ target: PauseTarget) async throws -> Bool {
        try await claims.write { transaction in
            try transaction.run(
                "DELETE FROM pause WHERE target = $1 AND name = $2", [.text(target.kind), .text(target.name)]) > 0
        }
    }
}

/// The jobs that a claim skips because of pauses.
struct PausedJobs: Sendable, Hashable {
    private(set) var holdsAll = false
    private(set) var lanes: Set<JobPriority> = []
    private var hosts: Set<String> = []

    static let query = SQLStatement("SELECT target, name FROM pause")

    init(_ rows: [SQLRow] = []) {
        for row in rows {
            switch PauseTarget(kind: row[0], name: row[1]) {
            case .all: holdsAll = true
            case .lane(let lane): lanes.insert(lane)
            case .host(let host): hosts.insert(host)
            case nil: break
            }
        }
    }

    /// The condition for jobs that are held back; without a pause of a host, the indexes of queued jobs answer it.
    func holdCondition(in condition: inout SQLCondition, dialect: SQLDialect) -> String {
        guard !holdsAll else { return "1 = 1" }
        let lanes = lanes.map { "lane = \($0.lane)" }.sorted()
        let hosts = hosts.sorted().map { JobSelection.hostCondition($0, in: &condition, dialect: dialect) }
        return lanes.isEmpty && hosts.isEmpty ? "1 = 0" : (lanes + hosts).joined(separator: " OR ")
    }

    /// - Parameter hostGroup: the value of `job.host` (`JobSubmission.hostGroup`).
    func holdHost(of hostGroup: String) -> Bool {
        guard !hosts.isEmpty else { return false }
        return hosts.contains(JobSubmission.host(ofGroup: hostGroup))
    }
}
