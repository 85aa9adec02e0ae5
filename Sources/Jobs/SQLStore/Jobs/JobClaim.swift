import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import Logging
import MediaTypes
import SafeArithmetic
import Synchronization

extension SQLJobStore {
    public func claim(
        _ count: Int, by worker: String, lease: Duration, hostLimit: Int
    ) async throws -> [ClaimedJob] {
        let terms = ClaimTerms(
            worker: worker, leaseMilliseconds: lease.milliseconds, hostLimit: hostLimit,
            ownerLimit: limits.runningPerCallerMax)
        do {
            let rows = try await claimQueue.claim(count, terms) { [self] count, terms in
                try await claimRows(count, terms: terms)
            }
            return await claimed(rows)
        } catch {
            // Other workers could not renew their leases either, which this one must not count as losses.
            failedRenewals.record(at: clock.now().steady, lease: terms.leaseMilliseconds)
            throw error
        }
    }

    private func claimed(_ rows: [ClaimedRow]) async -> [ClaimedJob] {
        var jobs: [ClaimedJob] = []
        for row in rows {
            do {
                jobs.append(try row.claimed(secrets))
            } catch let error as AttachPrepError where row.secret.map(secrets.lacksKey) ?? false {
                await wait(row, for: error)
            } catch {
                // An unreadable row must not block other jobs; its lease expires, and its delay grows with each loss.
                logger.error(
                    "cannot read a claimed job", metadata: ["job": "\(row.record.id)", "error": "\(error)"])
            }
        }
        return jobs
    }

    /// How long a job waits for a key file that has its key before it is tried again, in seconds; others go on.
    private static let missingKeySeconds = 30.0

    /// Returns a job that this machine cannot open to the queue, without counting the attempt.
    private func wait(_ row: ClaimedRow, for error: AttachPrepError) async {
        guard let lease = row.lease else { return }
        let isNew = missingKey.withLock { last in
            defer { last = (error.message, .now + .seconds(2 * Self.missingKeySeconds)) }
            return last.map { $0.until < .now } ?? true
        }
        if isNew { logger.error("a key is missing; jobs wait for it", metadata: ["reason": "\(error.message)"]) }
        // If this fails, the lease expires, and the other jobs of the claim go on.
        _ = try? await postpone(
            lease, until: clock.wall().addingTimeInterval(Self.missingKeySeconds), error: ManifestError(error),
            isAttempt: false)
    }

    public func claimOverdue(
        _ count: Int, by worker: String, lease: Duration, waitSecondsMax: Double
    ) async throws -> [ClaimedJob] {
        let terms = ClaimTerms(
            worker: worker, leaseMilliseconds: lease.milliseconds, hostLimit: .max, ownerLimit: .max)
        let wait = Int64(clamping: waitSecondsMax * 1000)
        let isAny = try await read { [self] connection in
            try !OverdueJobs.ids(count: 1, wait: wait, at: databaseMilliseconds(connection), connection).isEmpty
        }
        guard isAny else { return [] }
        return await claimed(
            try await claims.write { transaction in
                let ids = try OverdueJobs.ids(count: count, wait: wait, at: transaction.moment.wall, transaction)
                var claim = JobClaim(terms, transaction)
                return try claim.take(ids)
            })
    }

    private func claimRows(_ count: Int, terms: ClaimTerms) async throws -> [ClaimedRow] {
        try await jumps.adjust(clock.now(), of: self)
        if database.dialect == .postgres {
            let mayFindJobs = try await read { connection in
                let now = try self.databaseMilliseconds(connection)
                return try connection.row(ClaimState.mayFindJobs(connection.dialect), [.integer(now)]) != nil
            }
            guard mayFindJobs else { return [] }
        }
        // Each step is its own transaction, so that other changes can run while a long backlog is parked.
        while true {
            let (rows, mayBeMore) = try await claims.write { [self] transaction in
                var claim = JobClaim(terms, transaction)
                if reclaimTurn.begins(at: transaction.moment.steady) {
                    try claim.reclaim(excusedUntil: excusedUntil(transaction), secrets)
                }
                return try claim.run(count, turn: laneRotation.next)
            }
            if !rows.isEmpty || !mayBeMore { return rows }
        }
    }

    /// The end of excused leases by the clock of the database: `FailedRenewals` knows it by that of this machine.
    private func excusedUntil(_ transaction: StoreTransaction) -> Int64 {
        let local = failedRenewals.excusedUntil
        guard local != .min else { return .min }
        return local.adding(clamping: transaction.moment.steady.subtracting(clamping: clock.now().steady))
    }
}

/// For whom jobs are claimed, and within which limits.
struct ClaimTerms: Sendable, Hashable {
    var worker: String
    var leaseMilliseconds: Int64
    var hostLimit: Int
    var ownerLimit: Int
}

/// One claim: takes due jobs and gives each a lease. Alone among all claims (`TransactionOrder.exclusive`).
///
/// It reads the first due jobs of each lane and the numbers of running jobs of their hosts, callers and work keys, lets
/// `ClaimChoice` decide, and changes the chosen and the parked jobs with one statement each. Jobs of a busy host are
/// parked, and unparked when the host has capacity again; so 100,000 jobs for one slow host cost one parking each, and
/// do not slow down others.
struct JobClaim {
    /// Due jobs of a lane that are read at a time, besides as many as are wanted.
    private static let windowCount = 64
    /// Maximum number of windows per transaction: parking this many takes some 20 ms, during which other claims wait.
    private static let windowsMax = 32
    private let terms: ClaimTerms
    private let transaction: StoreTransaction
    private var state: ClaimState
    private let stateBefore: ClaimState

    private var now: Int64 { transaction.moment.wall }
    private var dialect: SQLDialect { transaction.dialect }

    init(_ terms: ClaimTerms, _ transaction: StoreTransaction) {
        self.terms = terms
        self.transaction = transaction
        stateBefore = transaction.claimState ?? ClaimState(nil)
        state = stateBefore.lowered(to: transaction.moment.wall)
    }

    /// Returns jobs to the queue whose lease has ended.
    mutating func reclaim(excusedUntil: Int64, _ secrets: SecretStorage) throws {
        try ExpiredLeases.reclaim(
            transaction, until: transaction.moment.steady, excusedUntil: excusedUntil, from: state.runningFloor, secrets
        )
    }

    // MARK: Choosing

    /// - Returns: The claimed jobs, and whether more due jobs were left unexamined.
    mutating func run(_ count: Int, turn: () -> [JobPriority]) throws -> (rows: [ClaimedRow], mayBeMore: Bool) {
        let paused = transaction.pausedJobs
        if paused.holdsAll { return ([], false) }
        if state.mayHaveParked { try unpark() }
        var rows: [ClaimedRow] = []
        var open = Set(JobPriority.allCases).subtracting(paused.lanes)
        var windows = 0
        while rows.count < count, !open.isEmpty, windows < Self.windowsMax {
            windows += 1
            let limit = Self.windowCount.adding(clamping: count - rows.count)
            var lanes = try candidates(in: open, limit: limit)
            let full = open.filter { lanes[$0, default: []].count >= limit }
            var choice = try choice(among: lanes.values.joined())
            choice.choose(count - rows.count, from: &lanes, turn: turn)
            for lane in open {
                state.raiseFloor(of: lane, to: lanes[lane]?.first?.place ?? (full.contains(lane) ? 0 : now), at: now)
            }
            rows += try apply(choice)
            open = full.filter { lanes[$0, default: []].isEmpty }
        }
        if state != stateBefore { transaction.later(state.update) }
        return (rows, !open.isEmpty && rows.count < count)
    }

    /// The first due jobs of lanes, in order.
    private func candidates(
        in lanes: Set<JobPriority>, limit: Int
    ) throws -> [JobPriority: ArraySlice<ClaimCandidate>] {
        let lanes = Array(lanes)
        let statements = lanes.map { lane in
            SQLStatement(
                """
                SELECT id, place, owner, host, key FROM job \(dialect.using("job_queued"))
                WHERE state = 'queued' AND parked = 0 AND lane = $1 AND place >= $2 AND place <= $3
                ORDER BY place, id LIMIT \(limit)
                """,
                [
                    .integer(Int64(lane.lane)),
                    .integer(state[lane].subtracting(clamping: ClaimState.slackMilliseconds)), .integer(now),
                ])
        }
        let results = try transaction.run(statements)
        return Dictionary(
            uniqueKeysWithValues: zip(lanes, results).map { lane, result in
                let candidates = result.rows.map {
                    ClaimCandidate(id: $0[0], place: $0[1], owner: $0[2], host: $0[3], key: $0[4])
                }
                return (lane, candidates[...])
            })
    }

    /// The running jobs that matter for the candidates.
    private mutating func choice(among candidates: some Sequence<ClaimCandidate>) throws -> ClaimChoice {
        let candidates = Array(candidates)
        guard !candidates.isEmpty else { return ClaimChoice(hostLimit: terms.hostLimit, ownerLimit: terms.ownerLimit) }
        let pausedHosts = Set(candidates.map(\.host).filter(transaction.pausedJobs.holdHost))
        let reasons: [(ParkingReason, Set<String>)] = [
            (.host, Set(candidates.map(\.host))), (.key, Set(candidates.map(\.key))),
            // Without a limit there is nothing to count.
            (.owner, terms.ownerLimit == .max ? [] : Set(candidates.map(\.owner))),
        ]
        let oldest = SQLStatement(
            """
            SELECT min(claim_number) FROM job \(dialect.using("job_running"))
            WHERE state = 'running' AND claim_number >= $1
            """, [.integer(state.runningFloor)])
        let results = try transaction.run(
            reasons.map { Self.runningCount($0, among: $1, from: state.runningFloor, dialect: dialect) } + [oldest])
        state.runningFloor = results[3].rows.first?[0] ?? state.number.adding(clamping: 1)
        func counts(_ index: Int) -> [String: Int] {
            Dictionary(results[index].rows.map { ($0[0], $0[1]) }, uniquingKeysWith: { $0.adding(clamping: $1) })
        }
        return ClaimChoice(
            hostLimit: terms.hostLimit, ownerLimit: terms.ownerLimit, pausedHosts: pausedHosts,
            runningHosts: counts(0), runningOwners: counts(2), runningKeys: Set(counts(1).keys))
    }

    private static func runningCount(
        _ reason: ParkingReason, among values: Set<String>, from floor: Int64, dialect: SQLDialect
    ) -> SQLStatement {
        SQLStatement(
            """
            SELECT \(reason.column), count(*) FROM job \(dialect.using("job_running"))
            WHERE state = 'running' AND claim_number >= $1 AND \(dialect.isAmong(reason.column, 2))
            GROUP BY \(reason.column)
            """, [.integer(floor), .texts(values.sorted())])
    }

    // MARK: Changing

    /// Gives the chosen jobs their leases, and parks the others.
    private mutating func apply(_ choice: ClaimChoice) throws -> [ClaimedRow] {
        for (reason, ids) in choice.parked {
            state.mayHaveParked = true
            transaction.later(
                "UPDATE job SET parked = $1 WHERE \(dialect.isAmong("id", 2)) AND state = 'queued'",
                [.integer(reason.rawValue), .texts(ids)])
        }
        return try lease(choice.chosen.map(\.id))
    }

    /// Claims queued jobs, whatever their place.
    mutating func take(_ ids: [String]) throws -> [ClaimedRow] {
        let rows = try lease(ids)
        if state != stateBefore { transaction.later(state.update) }
        return rows
    }

    private mutating func lease(_ ids: [String]) throws -> [ClaimedRow] {
        guard !ids.isEmpty else { return [] }
        state.number = state.number.adding(clamping: 1)
        let results = try transaction.rows(
            """
            UPDATE job SET state = 'running', attempts = attempts + 1, started_at = $2, wait = 0, token = $3,
                worker = $4, lease_until = $5, claim_number = $6
            WHERE \(dialect.isAmong("id", 1)) AND state = 'queued' RETURNING \(ClaimedRow.columns)
            """,
            [
                .texts(ids), .integer(now), .integer(.random(in: 1 ... .max)),
                .text(terms.worker),
                .integer(transaction.moment.steady.adding(clamping: terms.leaseMilliseconds)), .integer(state.number),
            ])
        // In the order in which they were chosen; some may have been cancelled meanwhile.
        let rows = Dictionary(
            results.map(ClaimedRow.init).map { ($0.record.id, $0) }, uniquingKeysWith: { first, _ in first })
        let claimed = ids.compactMap { rows[$0] }
        transaction.moved(claimed.count, from: .queued, to: .running)
        transaction.changes += claimed.compactMap { row in
            JobID(row.record.id).map { JobFeed.Change(job: $0, state: .running) }
        }
        return claimed
    }

    // MARK: Parked jobs

    /// Unparks as many jobs as can run of each host, work key and caller that has capacity again.
    private mutating func unpark() throws {
        let parked = try transaction.run(ParkingReason.allCases.map { Self.parkedValues($0, dialect: dialect) })
        state.mayHaveParked = parked.contains { !$0.rows.isEmpty }
        for (reason, result) in zip(ParkingReason.allCases, parked) where !result.rows.isEmpty {
            let values = Set(result.rows.map { $0[0] as String })
            let counts = try transaction.run([
                Self.runningCount(reason, among: values, from: state.runningFloor, dialect: dialect)
            ])[0].rows
            let running = Dictionary(
                counts.map { ($0[0] as String, $0[1] as Int) }, uniquingKeysWith: { $0.adding(clamping: $1) })
            for value in values.sorted() where reason != .host || !transaction.pausedJobs.holdHost(of: value) {
                let free = limit(of: reason).subtracting(clamping: running[value] ?? 0)
                if free > 0 { unpark(value, reason: reason, count: free) }
            }
        }
    }

    private func limit(of reason: ParkingReason) -> Int {
        switch reason {
        case .host: terms.hostLimit
        case .key: 1
        case .owner: terms.ownerLimit
        }
    }

    /// The hosts, work keys or callers with parked jobs; one index seek each.
    private static func parkedValues(_ reason: ParkingReason, dialect: SQLDialect) -> SQLStatement {
        let (column, mark) = (reason.column, reason.rawValue)
        let first = """
            SELECT min(\(column)) FROM job \(dialect.using("job_\(column)_parked"))
            WHERE state = 'queued' AND parked = \(mark)
            """
        return SQLStatement(
            """
            WITH RECURSIVE found (name) AS (
                \(first)
                UNION ALL
                SELECT (\(first) AND \(column) > found.name) FROM found WHERE found.name IS NOT NULL
            )
            SELECT name FROM found WHERE name IS NOT NULL
            """)
    }

    /// Unparks the oldest jobs of each lane; the claim chooses among the lanes.
    private func unpark(_ value: String, reason: ParkingReason, count: Int) {
        let column = reason.column
        for lane in JobPriority.allCases {
            transaction.later(
                """
                UPDATE job SET parked = 0, place = \(dialect.greatest("place", "$4")) WHERE id IN (
                    SELECT id FROM job \(dialect.using("job_\(column)_parked"))
                    WHERE state = 'queued' AND parked = \(reason.rawValue) AND \(column) = $1 AND lane = $2
                    ORDER BY place, id LIMIT $3)
                """, [.text(value), .integer(Int64(lane.lane)), .integer(Int64(count)), .integer(state[lane])])
        }
    }
}

/// Queued jobs that may not start any more.
enum OverdueJobs {
    /// How long after its `notAfter` a job is ended by this, in milliseconds: the clock of a worker may be behind.
    private static let slackMilliseconds: Int64 = 1_000

    /// - Parameter wait: how long a job may wait for a dependency, in milliseconds.
    static func ids(
        count: Int, wait: Int64, at now: Int64, _ connection: any SQLConnection
    ) throws -> [String] {
        let limits = [
            ("not_after", now.subtracting(clamping: slackMilliseconds)),
            ("waits_since", now.subtracting(clamping: wait)),
        ]
        let statements = limits.map { column, latest in
            SQLStatement(
                """
                SELECT id FROM job WHERE state = 'queued' AND \(column) IS NOT NULL AND \(column) <= $1
                ORDER BY \(column) LIMIT \(count)
                """, [.integer(latest)])
        }
        let found = try connection.run(statements).flatMap { result in result.rows.map { $0[0] as String } }
        return Array(Set(found).sorted().prefix(count))
    }
}
