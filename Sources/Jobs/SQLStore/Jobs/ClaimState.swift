import AttachPrep
import AttachPrepJobs
import MediaTypes
import SafeArithmetic

/// What claims remember from one to the next: the only row of `claim_state`, which only claims change.
///
/// PostgreSQL cannot remove rows that an old snapshot may still see, and a search from the beginning of an index would
/// pass over all of them. So claims remember where they ended: every job that waits is at or after the floor of its
/// lane, and every running job was taken by a claim from the running floor on.
struct ClaimState: Sendable, Hashable {
    /// The number of the last claim.
    var number: Int64
    /// The number of the oldest claim of which a job is running.
    var runningFloor: Int64
    /// Whether jobs may be parked.
    var mayHaveParked: Bool
    private var floors: [JobPriority: Int64]

    /// Jobs are enqueued at the time at which their transaction began, and appear a little later; those that appear
    /// later still are found by `SQLJobStore.sweepStragglers`.
    static let slackMilliseconds: Int64 = 1_000

    private static let lanes: [JobPriority] = [.high, .normal, .bulk]

    private static func column(of lane: JobPriority) -> String { "\(lane.rawValue)_floor" }

    /// The floor of the lane of a row of `job` as SQL, and not after the time: the clock may have been set back since
    /// the last claim.
    ///
    /// - Parameter now: the parameter of the time.
    static func floorOfJob(now: String, _ dialect: SQLDialect) -> String {
        let floors = lanes.map { "WHEN \($0.lane) THEN \(column(of: $0))" }.joined(separator: " ")
        return "(SELECT \(dialect.least("CASE job.lane \(floors) ELSE 0 END", now)) FROM claim_state)"
    }

    /// Whether a claim could find something to do, a due, parked or running job: one row or none.
    ///
    /// It costs an idle worker one short query without a lock. `$1` is the time.
    static func mayFindJobs(_ dialect: SQLDialect) -> String {
        let due = lanes.map { lane in
            """
            OR EXISTS (SELECT 1 FROM job WHERE state = 'queued' AND parked = 0 AND lane = \(lane.lane)
                AND place >= \(dialect.least(column(of: lane), "$1")) - \(slackMilliseconds) AND place <= $1)
            """
        }
        return """
            SELECT 1 FROM claim_state WHERE parked = 1
            OR EXISTS (SELECT 1 FROM job WHERE state = 'running' AND claim_number >= running_floor)
            \(due.joined(separator: "\n"))
            """
    }

    /// Waiting jobs that claims do not find, because they appeared after a claim had passed their place. `$1` is the
    /// time.
    static func stragglers(_ dialect: SQLDialect, limit: Int) -> String {
        """
        SELECT id FROM job WHERE state = 'queued' AND parked = 0
        AND place < \(floorOfJob(now: "$1", dialect)) - \(slackMilliseconds) LIMIT \(limit)
        """
    }

    static let query = SQLStatement(
        "SELECT number, running_floor, parked, high_floor, normal_floor, bulk_floor FROM claim_state WHERE id = 1")

    init(_ row: SQLRow?) {
        number = row?[0] ?? 0
        runningFloor = row?[1] ?? 0
        mayHaveParked = row?[2] ?? true
        floors = Dictionary(uniqueKeysWithValues: Self.lanes.enumerated().map { ($1, row?[3 + $0] ?? 0) })
    }

    /// Lowers the floors after a step of the clock back, because new jobs come before them.
    func lowered(to now: Int64) -> ClaimState {
        var state = self
        let latest = now.subtracting(clamping: Self.slackMilliseconds)
        state.floors = floors.mapValues { min($0, latest) }
        return state
    }

    subscript(_ lane: JobPriority) -> Int64 { floors[lane] ?? 0 }

    /// - Parameter place: the place of the first job that is left, or the time when none is due.
    mutating func raiseFloor(of lane: JobPriority, to place: Int64, at now: Int64) {
        let latest = now.subtracting(clamping: Self.slackMilliseconds)
        floors[lane] = max(self[lane], min(place, latest))
    }

    var update: SQLStatement {
        SQLStatement(
            """
            UPDATE claim_state SET number = $1, running_floor = $2, parked = $3, high_floor = $4, normal_floor = $5,
                bulk_floor = $6 WHERE id = 1
            """,
            [.integer(number), .integer(runningFloor), mayHaveParked ? 1 : 0] + Self.lanes.map { .integer(self[$0]) })
    }
}
