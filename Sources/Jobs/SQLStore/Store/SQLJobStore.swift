import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
public import Logging
import MediaTypes
import SafeArithmetic
import Synchronization

/// The store of workers and services: jobs, webhooks, results, uploads and receipts in a SQL database.
///
/// On one machine the database is SQLite in a data folder, with the files beside it. On many it is PostgreSQL, and the
/// files are in a bucket. The rules are the same for both.
public final class SQLJobStore: Sendable {
    let database: any SQLDatabase
    let clock: StoreClock
    let secrets: SecretStorage
    /// The local files of results; nil when files are published elsewhere.
    let files: ContentFiles?
    let uploadBytes: any UploadBytes
    /// The changes of most calls.
    let commits: GroupCommit
    /// Claims of jobs and webhooks.
    let claims: GroupCommit
    let claimQueue = ClaimQueue()
    let reclaimTurn = ReclaimTurn()
    let laneRotation = LaneRotation()
    let failedRenewals = FailedRenewals()
    let reservations = UploadReservations()
    /// The owners whose files take more than an equal share of the quota, when the last sweep could not get below it.
    let fullOwners = Mutex<Set<String>>([])
    let jumps: ClockJumps
    let sweepProgress = SweepProgress()
    /// The last job whose key was missing.
    let missingKey = Mutex<(reason: String, until: ContinuousClock.Instant)?>(nil)
    /// Whether files exceeded the quota after the last sweep.
    let isOverQuota = Atomic(false)
    let feed: JobFeed
    let slots: Set<Int64>
    let logger: Logger
    private let currentLimits: Mutex<StoreLimits>
    private let listener = Mutex<Task<Void, Never>?>(nil)
    /// Until when the changes of other processes are known to have been published.
    private let caughtUp = Mutex(ContinuousClock.now)

    private init(
        _ database: any SQLDatabase, seal: SecretSeal?, files: ContentFiles?, uploads: any UploadBytes,
        slots: [TransactionOrder: Int64], limits: StoreLimits, clock: StoreClock, feed: JobFeed, logger: Logger
    ) {
        self.database = database
        self.clock = clock
        self.files = files
        self.logger = logger
        self.feed = feed
        secrets = SecretStorage(seal: seal)
        uploadBytes = uploads
        currentLimits = Mutex(limits)
        commits = GroupCommit(
            database, .parallel, slot: slots[.parallel] ?? 0, clock: clock, publish: { feed.publish($0) })
        claims = GroupCommit(
            database, .exclusive, slot: slots[.exclusive] ?? 0, clock: clock, publish: { feed.publish($0) })
        self.slots = Set(slots.values)
        jumps = ClockJumps(clock.now())
    }

    /// Opens the store of a database whose tables exist (`StoreSchema.migrate`).
    ///
    /// - Parameters:
    ///   - seal: how secrets are written; nil writes them as they are, for a database in a folder of this machine.
    ///   - files: the folder of results; nil when files are published elsewhere.
    ///   - feed: receives the changes that this process makes, and those of others.
    /// - Throws: `queue.unavailable`.
    public static func open(
        _ database: any SQLDatabase, seal: SecretSeal?, files: ContentFiles?, uploads: any UploadBytes,
        limits: StoreLimits = StoreLimits(), clock: StoreClock = .system, feed: JobFeed,
        logger: Logger = Logger(label: "attachprep.jobs")
    ) async throws -> SQLJobStore {
        do {
            let slots = try await makeSlots(database, clock: clock)
            let store = SQLJobStore(
                database, seal: seal, files: files, uploads: uploads, slots: slots, limits: limits, clock: clock,
                feed: feed, logger: logger)
            if database.dialect == .postgres { store.listen() }
            return store
        } catch {
            throw StoreErrors.error(error)
        }
    }

    /// The rows of `writer` for the connections of this process: one row for all in SQLite, which has one writer.
    private static func makeSlots(
        _ database: any SQLDatabase, clock: StoreClock
    ) async throws -> [TransactionOrder: Int64] {
        let orders = TransactionOrder.allCases
        let numbers = orders.map { _ in database.dialect == .sqlite ? 0 : Int64.random(in: 1 ... .max) }
        let slots = Dictionary(uniqueKeysWithValues: zip(orders, numbers))
        try await database.transact(.parallel) { connection in
            let now = connection.milliseconds ?? clock.now().wall
            for slot in Set(numbers).union([0]) {
                try connection.run(
                    "INSERT INTO writer VALUES ($1, 0, $2, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT (slot) DO NOTHING",
                    [.integer(slot), .integer(now)])
            }
        }
        return slots
    }

    /// Reclaims everything that earlier processes held, which a lock proves to have ended.
    public func recover() async throws {
        try await jumps.recover(self)
        try await write { $0.later("UPDATE webhook SET lease_until = NULL WHERE lease_until IS NOT NULL") }
        var isDone = false
        while !isDone {
            let lost = try await claims.write { [secrets] transaction in
                try ExpiredLeases.reclaim(transaction, until: .max, from: 0, secrets)
                return transaction.changes.map(\.job)
            }
            for job in lost {
                logger.notice("the previous process was lost with this job", metadata: ["job": "\(job)"])
            }
            isDone = lost.count < ExpiredLeases.countMax
        }
    }

    var limits: StoreLimits { currentLimits.withLock { $0 } }

    public func apply(_ limits: StoreLimits) { currentLimits.withLock { $0 = limits } }

    /// Ends the connections. Later calls fail with `queue.unavailable`.
    public func close() async {
        listener.withLock { $0 }?.cancel()
        await uploadBytes.close()
        await database.close()
    }

    /// Whether new jobs and uploads are rejected because files exceeded the quota after the last sweep.
    public var isFull: Bool { isOverQuota.load(ordering: .relaxed) }

    public var unavailableReason: String? { database.unavailableReason ?? outages.first?.reason }

    public var outages: [DependencyOutage] {
        missingKey.withLock { missing in
            guard let missing, ContinuousClock.now < missing.until else { return [] }
            return [DependencyOutage(.queueKey, reason: missing.reason)]
        }
    }

    /// Runs a change and returns after it is committed.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> Value
    ) async throws -> Value {
        try await commits.write(body)
    }

    /// Runs a query on the last committed state, concurrently with changes.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        do {
            return try await database.read(body)
        } catch {
            throw StoreErrors.error(error)
        }
    }

    /// The wall time by the clock of the database. One query, in PostgreSQL.
    func databaseMilliseconds(_ connection: any SQLConnection) throws -> Int64 {
        guard connection.dialect == .postgres else { return clock.now().wall }
        if let milliseconds = connection.milliseconds { return milliseconds }
        return try connection.number("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)") ?? 0
    }

    /// A time of the database's clock by the clock of this machine; and the other way round, `delay`.
    func localDate(_ milliseconds: Int64, databaseNow: Int64) -> Date {
        Date(milliseconds: clock.now().wall.adding(clamping: milliseconds.subtracting(clamping: databaseNow)))
    }

    /// Milliseconds from now until a time of this machine's clock, which may differ from the database's.
    func delay(until date: Date) -> Int64 { date.milliseconds.subtracting(clamping: clock.now().wall) }

    // MARK: Changes by other processes

    /// Pause between two looks for changes while the database delivers no messages.
    private static let pollingSeconds = 1.0
    /// Changes are looked for again this long after their time: transactions commit later than they begin.
    private static let overlapMilliseconds: Int64 = 15_000

    private func listen() {
        let task = Task { [weak self, notifications = database.notifications] in
            var polling: Task<Void, Never>?
            for await notification in notifications {
                guard let self else { break }
                switch notification {
                case .message(let text):
                    caughtUp.withLock { $0 = .now }
                    feed.publish(ChangeMessage.changes(in: text, except: slots))
                case .interrupted:
                    feed.reportGap()
                    polling?.cancel()
                    polling = Task { [weak self] in await self?.poll(once: true) }
                case .unsupported:
                    polling?.cancel()
                    polling = Task { [weak self] in await self?.poll(once: false) }
                }
            }
            polling?.cancel()
        }
        listener.withLock { $0 = task }
    }

    /// Publishes the jobs that ended since changes were last received, each once. Workers look for due jobs on their
    /// own.
    private func poll(once: Bool) async {
        var seen: [JobID: JobState] = [:]
        repeat {
            if let (latest, began) = try? await endedJobs() {
                let new = latest.filter { seen[$0.key] != $0.value }
                feed.publish(new.map { JobFeed.Change(job: $0.key, state: $0.value) })
                seen = latest
                caughtUp.withLock { $0 = max($0, began) }
            }
            try? await ContinuousClock().sleep(for: .seconds(Self.pollingSeconds))
        } while !once && !Task.isCancelled
    }

    /// The jobs that may have ended without a message, and when the database was asked.
    private func endedJobs() async throws -> ([JobID: JobState], ContinuousClock.Instant) {
        let began = ContinuousClock.now
        let missed = Int64(clamping: caughtUp.withLock(\.self).duration(to: began) / .milliseconds(1))
        let changes = try await read { [self] connection in
            let since = try databaseMilliseconds(connection)
                .subtracting(clamping: Self.overlapMilliseconds).subtracting(clamping: max(0, missed))
            return try JobState.allCases.filter(\.isFinished).flatMap { state in
                try connection.rows(
                    "SELECT id, state FROM finished_job WHERE state = $1 AND finished_at > $2",
                    [.text(state.rawValue), .integer(since)]
                ).compactMap(JobFeed.Change.init)
            }
        }
        return (Dictionary(changes.map { ($0.job, $0.state) }, uniquingKeysWith: { _, last in last }), began)
    }
}
