import AttachPrepJobs
import SafeArithmetic

/// One change of the store within a transaction, which may hold the changes of other calls too.
///
/// A change that throws must not have changed anything before: check first. Otherwise the whole transaction is rolled
/// back, and each change runs again alone.
final class StoreTransaction: SQLConnection {
    private let connection: any SQLConnection
    /// The time of the transaction: by the database's clock in PostgreSQL.
    let moment: StoreMoment
    private var deferred: [SQLStatement] = []
    /// Number of statements that have changed a row, or will.
    private(set) var changesCount = 0
    /// Published after the commit.
    var changes: [JobFeed.Change] = []
    private(set) var counts = WriterCounts()
    private var storedCounts: WriterCounts?

    /// The state of claims, in a transaction that is alone among claims.
    let claimState: ClaimState?
    /// What claims skip; empty in other transactions.
    let pausedJobs: PausedJobs

    /// Begins with what most changes need, which takes no round trip of its own.
    init(_ connection: any SQLConnection, _ order: TransactionOrder, clock: StoreClock) throws {
        self.connection = connection
        switch order {
        case .exclusive:
            let results = try connection.run([ClaimState.query, PausedJobs.query])
            claimState = ClaimState(results[0].rows.first)
            pausedJobs = PausedJobs(results[1].rows)
        case .parallel:
            claimState = nil
            pausedJobs = PausedJobs()
            storedCounts = WriterCounts(try connection.run([WriterCounts.query])[0].rows.first)
        }
        let now = clock.now()
        moment = connection.milliseconds.map { StoreMoment(wall: $0, steady: $0, bootID: "") } ?? now
    }

    var dialect: SQLDialect { connection.dialect }
    var milliseconds: Int64? { connection.milliseconds }

    func notify(_ message: String) throws { try connection.notify(message) }

    func run(_ statements: [SQLStatement]) throws -> [SQLResult] {
        let all = deferred + statements
        let results = try connection.run(all).suffix(statements.count)
        deferred = []
        changesCount += zip(statements, results).count { !$0.isQuery && $1.changes > 0 }
        return Array(results)
    }

    /// Runs a statement whose result is not needed with the next one, or before the commit: saves a round trip.
    func later(_ sql: String, _ arguments: [SQLValue] = []) {
        later(SQLStatement(sql, arguments))
    }

    func later(_ statement: SQLStatement) {
        deferred.append(statement)
        changesCount += 1
    }

    /// Makes the commit as durable as that of a change, when a call is answered from what the transaction has read.
    ///
    /// A server that was killed while a commit waited for its synchronous standby has that commit after its restart,
    /// the standby may not, and only a commit with a change waits for the standby.
    func confirm() { changesCount += 1 }

    func flush() throws {
        if !deferred.isEmpty { _ = try run([]) }
    }

    // MARK: Counts

    /// Counts jobs that moved from one state to another; nil for jobs that are new or removed.
    func moved(_ number: Int = 1, from: JobState?, to: JobState?) {
        if let from { counts[from] = counts[from].subtracting(clamping: Int64(number)) }
        if let to { counts[to] = counts[to].adding(clamping: Int64(number)) }
    }

    func added(mediaBytes: Int64) { counts.mediaBytes = counts.mediaBytes.adding(clamping: mediaBytes) }

    func removed(mediaBytes: Int64) { counts.mediaBytes = counts.mediaBytes.subtracting(clamping: mediaBytes) }

    /// The counts of the store, with the changes of this transaction.
    func currentCounts() throws -> WriterCounts {
        let stored = try storedCounts ?? WriterCounts(stored: self)
        storedCounts = stored
        return stored.adding(counts)
    }
}

extension SQLStatement {
    fileprivate var isQuery: Bool { sql.utf8.starts(with: "SELECT".utf8) || sql.utf8.starts(with: "WITH".utf8) }
}

/// Numbers of jobs by state and of bytes of files, as the changes of a transaction or their sum.
///
/// Each connection adds its changes to a row of its own, so that connections do not wait for each other; counting would
/// scan all jobs. The row also holds the number of its last transaction, which tells after a lost connection whether it
/// was committed.
struct WriterCounts: Sendable, Hashable {
    private var jobs: [JobState: Int64] = [:]
    var mediaBytes: Int64 = 0

    private static let states = JobState.allCases
    private static let columns = states.map(\.rawValue) + ["media_bytes"]

    init() {}

    static let query = SQLStatement(
        "SELECT \(columns.map { "sum(\($0))" }.joined(separator: ", ")) FROM writer")

    init(stored connection: any SQLConnection) throws {
        self.init(try connection.run([Self.query])[0].rows.first)
    }

    init(_ row: SQLRow?) {
        for (index, state) in Self.states.enumerated() { jobs[state] = row?[index] ?? 0 }
        mediaBytes = row?[Self.states.count] ?? 0
    }

    subscript(_ state: JobState) -> Int64 {
        get { jobs[state] ?? 0 }
        set { jobs[state] = newValue }
    }

    func adding(_ other: WriterCounts) -> WriterCounts {
        var sum = self
        for state in Self.states { sum[state] = self[state].adding(clamping: other[state]) }
        sum.mediaBytes = mediaBytes.adding(clamping: other.mediaBytes)
        return sum
    }

    /// Adds the changes of transaction `number` to the row of a connection.
    func addition(slot: Int64, number: Int64, at now: Int64) -> SQLStatement {
        SQLStatement(
            """
            INSERT INTO writer (slot, number, seen_at, \(Self.columns.joined(separator: ", ")))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            ON CONFLICT (slot) DO UPDATE SET number = excluded.number, seen_at = excluded.seen_at,
                \(Self.columns.map { "\($0) = writer.\($0) + excluded.\($0)" }.joined(separator: ", "))
            """,
            [.integer(slot), .integer(number), .integer(now)] + Self.states.map { .integer(self[$0]) }
                + [.integer(mediaBytes)])
    }

    /// Adds the rows of connections that ended long ago to row 0.
    static func fold(_ transaction: StoreTransaction, unusedSince oldest: Int64) throws {
        let sums = columns.map { "coalesce(sum(\($0)), 0)" }.joined(separator: ", ")
        let row = try transaction.row(
            "SELECT count(*), \(sums) FROM writer WHERE slot <> 0 AND seen_at < $1", [.integer(oldest)])
        guard let row, let count: Int64 = row[0], count > 0 else { return }
        let values: [SQLValue] = columns.indices.map { .integer(row[$0 + 1]) }
        try transaction.run("DELETE FROM writer WHERE slot <> 0 AND seen_at < $1", [.integer(oldest)])
        try transaction.run(
            """
            UPDATE writer SET \(columns.enumerated().map { "\($1) = \($1) + $\($0 + 1)" }.joined(separator: ", "))
            WHERE slot = 0
            """, values)
    }
}
