public import AttachPrepJobs
public import AttachPrepModel
public import FoundationEssentials
import MediaTypes
import SafeArithmetic

extension SQLJobStore {
    public func extend(_ leases: [JobLease], by lease: Duration) async throws -> [JobID: LeaseStatus] {
        let milliseconds = lease.milliseconds
        do {
            return try await commits.write { transaction in
                let until = transaction.moment.steady.adding(clamping: milliseconds)
                return leases.map { lease in
                    SQLStatement(
                        """
                        UPDATE job SET lease_until = $1 WHERE id = $2 AND state = 'running' AND token = $3
                        RETURNING cancelling
                        """, [.integer(until), .text(lease.job.text), .integer(lease.token)])
                }
            } then: { _, results in
                let statuses = results.map { result -> LeaseStatus in
                    result.rows.first.map { $0[0] == 1 ? .cancelled : .held } ?? .lost
                }
                return Dictionary(zip(leases.map(\.job), statuses), uniquingKeysWith: { _, last in last })
            }
        } catch {
            failedRenewals.record(at: clock.now().steady, lease: milliseconds)
            throw error
        }
    }

    public func finish(
        _ lease: JobLease, _ ending: JobCompletion, notice: WebhookNotice?, lines: [JobLogLine]
    ) async throws -> Bool {
        let outcome = try EncodedCompletion(ending)
        let kind: String? =
            if case .succeeded(let manifest, _) = ending { manifest.attachment?.kind.rawValue } else { nil }
        let webhook = try notice.map { try NewWebhook($0, job: lease.job, secrets) }
        let end = JobEnd(
            state: outcome.state, errorCode: outcome.errorCode, error: outcome.error, media: outcome.media?.text,
            kind: kind, result: outcome.result,
            secret: try outcome.secret.map { try secrets.stored($0, for: lease.job.text) })
        return try await commits.write { transaction in
            end.statements(lease.job.text, from: .running, token: lease.token, transaction)
        } then: { transaction, results in
            NewLines.insert(lines, transaction)
            guard results[0].changes > 0 else { return false }
            if let media = outcome.media {
                transaction.later(
                    "UPDATE result SET used_at = $1 WHERE media = $2 AND used_at < $3",
                    [
                        .integer(transaction.moment.wall), .text(media.text),
                        .integer(transaction.moment.wall.subtracting(clamping: Self.useStepMilliseconds)),
                    ])
            }
            webhook?.insert(transaction)
            transaction.moved(from: .running, to: outcome.state)
            transaction.changes.append(JobFeed.Change(job: lease.job, state: outcome.state))
            return true
        }
    }

    /// How much later a use must be to be recorded: results are kept for hours, and the job that made a result has
    /// just recorded the first.
    private static let useStepMilliseconds: Int64 = 60_000

    public func postpone(
        _ lease: JobLease, until date: Date, error: ManifestError, isAttempt: Bool
    ) async throws -> Bool {
        let text = try StoredJSON.text(error)
        let delay = delay(until: date)
        return try await write { [secrets] transaction in
            let due = transaction.moment.wall.adding(clamping: delay)
            let attempts =
                isAttempt
                ? ", waits_since = NULL"
                : ", \(Requeue.withoutAttempt), waits_since = coalesce(waits_since, $5)"
            let requeue = Requeue(
                "due_at = $2, place = \(Requeue.place("$2", now: "$5", transaction.dialect)), "
                    + "wait = \(JobWait.backOff.rawValue), error = $3, error_code = $4\(attempts)",
                [.integer(due), .text(text), .text(error.code.rawValue), .integer(transaction.moment.wall)])
            return try requeue.apply(to: lease, transaction, secrets)
        }
    }

    public func release(_ leases: [JobLease]) async throws {
        try await write { [secrets] transaction in
            let requeue = Requeue.undoingClaim(transaction)
            for lease in leases { _ = try requeue.apply(to: lease, transaction, secrets) }
        }
    }
}

/// Ends jobs: moves their rows from `job` to `finished_job`.
struct JobEnd: Sendable {
    var state: JobState
    var errorCode: String?
    var error: String?
    var media: String?
    var kind: String?
    var result: String?
    /// The stored form of the secret of a sealed result, which takes the place of those of the request.
    var secret: String?

    /// Cancelled; an error of the last attempt stays.
    static let cancelled = JobEnd(state: .cancelled)

    /// Ends a job.
    ///
    /// - Returns: False when it is not in state `before`.
    func end(_ id: String, from before: JobState, _ transaction: StoreTransaction) throws -> Bool {
        try transaction.run(statements(id, from: before, token: nil, transaction))[0].changes > 0
    }

    /// The statements that end a job; the first has changed a row if it was in state `before` and the lease was held.
    ///
    /// - Parameter token: the token of its lease; nil for any.
    func statements(
        _ id: String, from before: JobState, token: Int64?, _ transaction: StoreTransaction
    ) -> [SQLStatement] {
        // Secrets of the requests of jobs that ended well or were cancelled are never needed again.
        let kept =
            state == .succeeded || state == .cancelled
            ? "CASE WHEN secret IS NULL THEN NULL ELSE '\(JobSecrets.wiped)' END" : "secret"
        let secretColumn = secret == nil ? kept : "CAST($10 AS text)"
        let (errors, code) =
            state == .cancelled
            ? ("coalesce(error, CAST($5 AS text))", "coalesce(error_code, CAST($6 AS text))")
            : ("CAST($5 AS text)", "CAST($6 AS text)")
        let condition = "id = $1 AND state = $2 AND ($3 = -1 OR token = $3)"
        let found: [SQLValue] = [.text(id), .text(before.rawValue), .integer(token ?? -1)]
        return [
            SQLStatement(
                """
                INSERT INTO finished_job (\(StoreSchema.sharedColumns), finished_at, media, kind, result)
                SELECT id, '\(state.rawValue)', lane, caller_id, source, \(code), owner, host, key, upload, attempts,
                    losses, created_at, started_at, not_before, not_after, token, worker, calls_back, request,
                    \(secretColumn), \(errors), origin, batch, idempotency_key, $4, CAST($7 AS text), CAST($8 AS text),
                    CAST($9 AS text)
                FROM job WHERE \(condition) \(transaction.dialect.forUpdate)
                """,
                found + [
                    .integer(transaction.moment.wall), SQLValue(error), SQLValue(errorCode), SQLValue(media),
                    SQLValue(kind), SQLValue(result),
                ] + (secret.map { [.text($0)] } ?? [])),
            SQLStatement("DELETE FROM job WHERE \(condition)", found),
        ]
    }
}

/// Returns a running job to the queue, or ends it when it was cancelled meanwhile.
struct Requeue {
    /// Undoes the attempt that the claim counted.
    static let withoutAttempt = """
        attempts = attempts - 1, started_at = CASE WHEN attempts = 1 THEN NULL ELSE started_at END,
        worker = CASE WHEN attempts = 1 THEN NULL ELSE worker END
        """

    /// A place at the time `due`, and not before the floor of the lane; `now` is the parameter of the time.
    static func place(_ due: String, now: String, _ dialect: SQLDialect) -> String {
        dialect.greatest(due, ClaimState.floorOfJob(now: now, dialect))
    }

    private let assignments: String
    private let arguments: [SQLValue]

    /// - Parameters:
    ///   - assignments: SQL assignments, with parameters from `$2` on.
    ///   - arguments: their arguments.
    init(_ assignments: String, _ arguments: [SQLValue]) {
        self.assignments = assignments
        self.arguments = arguments
    }

    /// As if the job had not been claimed.
    static func undoingClaim(_ transaction: StoreTransaction) -> Requeue {
        let due = transaction.dialect.least("due_at", "$2")
        return Requeue(
            "due_at = \(due), place = \(place(due, now: "$2", transaction.dialect)), \(withoutAttempt)",
            [.integer(transaction.moment.wall)])
    }

    /// - Returns: False when the lease was lost.
    func apply(to lease: JobLease, _ transaction: StoreTransaction, _ secrets: SecretStorage) throws -> Bool {
        let row = try transaction.row(
            """
            SELECT \(ClaimedRow.columns), cancelling FROM job WHERE id = $1 AND state = 'running' AND token = $2
            \(transaction.dialect.forUpdate)
            """, [.text(lease.job.text), .integer(lease.token)])
        guard let row else { return false }
        try apply(to: row, isCancelled: row[ClaimedRow.columnsCount] == 1, transaction, secrets)
        return true
    }

    /// - Parameter row: a locked row with `ClaimedRow.columns`.
    func apply(
        to row: SQLRow, isCancelled: Bool, _ transaction: StoreTransaction, _ secrets: SecretStorage
    ) throws {
        let claimed = ClaimedRow(row)
        let state: JobState = isCancelled ? .cancelled : .queued
        if isCancelled {
            let webhook = CancelledNotice(claimed, transaction.moment, secrets)
            guard try JobEnd.cancelled.end(claimed.record.id, from: .running, transaction) else {
                return
            }
            webhook.insert(transaction)
        } else {
            transaction.later(
                """
                UPDATE job SET \(assignments), state = 'queued', parked = 0, token = NULL, lease_until = NULL,
                    cancelling = 0
                WHERE id = $1 AND state = 'running'
                """, [.text(claimed.record.id)] + arguments)
        }
        transaction.moved(from: .running, to: state)
        if let id = JobID(claimed.record.id) { transaction.changes.append(JobFeed.Change(job: id, state: state)) }
    }
}

/// Reclaims jobs from workers that no longer exist.
enum ExpiredLeases {
    /// Maximum number of jobs per transaction.
    static let countMax = 1_000

    /// Reclaims jobs whose lease ends by `end`; all running jobs with `.max`, for a process that holds the folder lock.
    ///
    /// Each job waits as `LossPolicy` says. A cancelled job ends.
    ///
    /// - Parameters:
    ///   - excusedUntil: a lease that ended by this time is not a loss, because the store was unreachable
    ///     (`FailedRenewals`): its job is due as before, and its attempt does not count.
    ///   - floor: the number of the oldest claim of which a job is running.
    static func reclaim(
        _ transaction: StoreTransaction, until end: Int64, excusedUntil: Int64 = .min, from floor: Int64,
        _ secrets: SecretStorage
    ) throws {
        let expired = try transaction.rows(
            """
            SELECT \(ClaimedRow.columns), cancelling, lease_until FROM job \(transaction.dialect.using("job_running"))
            WHERE state = 'running' AND claim_number >= $1 AND lease_until <= $2 LIMIT \(countMax)
            \(transaction.dialect.forUpdate)
            """, [.integer(floor), .integer(end)])
        for row in expired {
            let (losses, until): (Int, Int64) = (row[ClaimedRow.lossesIndex], row[ClaimedRow.columnsCount + 1])
            try requeue(losses: losses, isExcused: until <= excusedUntil, transaction).apply(
                to: row, isCancelled: row[ClaimedRow.columnsCount] == 1, transaction, secrets)
        }
    }

    private static func requeue(losses: Int, isExcused: Bool, _ transaction: StoreTransaction) -> Requeue {
        if isExcused { return .undoingClaim(transaction) }
        let count = losses.adding(clamping: 1)
        let due = transaction.moment.wall.adding(clamping: LossPolicy.delayMilliseconds(losses: count))
        return Requeue(
            "losses = $2, due_at = $3, place = \(Requeue.place("$3", now: "$4", transaction.dialect)), "
                + "wait = \(JobWait.backOff.rawValue)",
            [.integer(Int64(count)), .integer(due), .integer(transaction.moment.wall)])
    }
}
