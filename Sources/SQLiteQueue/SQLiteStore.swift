import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import GRDB
public import Logging
import RichPush
import Synchronization

/// The store of a worker and a service: one SQLite database and the files beside it.
///
/// ```swift
/// let store = try await SQLiteStore.open(folder: "/var/lib/attachprep", role: .service, feed: feed)
/// await store.close()
/// ```
/// Two clocks are used: leases use the boot clock, so that a step of the wall clock neither loses nor extends them; all
/// visible times use the wall clock.
public final class SQLiteStore: Sendable {
    let folder: DataFolder
    private let currentLimits: Mutex<StoreLimits>
    let clock: StoreClock
    let pool: DatabasePool
    let commits: GroupCommit
    let laneRotation = LaneRotation()
    let failedRenewals = FailedRenewals()
    let reservations = UploadReservations()
    /// The owners whose files take more than an equal share of the quota, when the last sweep could not get below it.
    let fullOwners = Mutex<Set<String>>([])
    let jumps: ClockJumps
    let files: ContentFiles
    let sweepProgress = SweepProgress()
    /// Whether files exceeded the quota after the last sweep.
    let isOverQuota = Atomic(false)
    let logger: Logger
    /// Held while the store is open; nil for a command.
    private let lock: FolderLock?

    init(
        folder: DataFolder, lock: FolderLock?, pool: DatabasePool, durability: StoreDurability, limits: StoreLimits,
        clock: StoreClock, feed: JobFeed, logger: Logger
    ) throws {
        self.folder = folder
        self.lock = lock
        self.pool = pool
        currentLimits = Mutex(limits)
        self.clock = clock
        self.logger = logger
        commits = GroupCommit(pool: pool, feed: feed)
        jumps = ClockJumps(clock.now())
        files = try ContentFiles(folder: folder, durability: durability)
    }

    var limits: StoreLimits { currentLimits.withLock { $0 } }

    public func apply(_ limits: StoreLimits) { currentLimits.withLock { $0 = limits } }

    /// Closes the database and releases the folder. Later calls fail with `queue.unavailable`.
    public func close() async {
        let pool = pool
        do {
            try await files.run {
                try pool.emptyLog()
                try pool.close()
            }
        } catch {
            logger.error("the job database could not be closed", metadata: ["error": "\(error)"])
        }
        lock?.release()
    }

    /// Whether new jobs and uploads are rejected because files exceeded the quota after the last sweep.
    public var isFull: Bool { isOverQuota.load(ordering: .relaxed) }

    /// Always nil: SQLite has no connection state, each call reports its own error.
    public var unavailableReason: String? { nil }

    /// Runs a change and returns after it is committed.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, inout [JobFeed.Change]) throws -> Value
    ) async throws -> Value {
        try await commits.write(body)
    }

    /// Runs a query on the last committed state, concurrently with changes.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await pool.read(body)
        } catch {
            throw StorageErrors.error(error)
        }
    }
}

extension SQLiteStore: JobQueue {
    /// How long a change waits for another process's lock.
    static let busySeconds = 5.0

    /// Opens the store of a folder; a service creates it when it does not exist.
    ///
    /// - Parameters:
    ///   - feed: receives every change that this process makes.
    /// - Throws: `queue.unavailable`, which names the cause: another service, permissions, or a database that is
    ///   damaged, of another program or of a newer version. None of the files is changed then.
    public static func open(
        folder path: String, durability: StoreDurability = .normal, role: StoreRole,
        limits: StoreLimits = StoreLimits(),
        clock: StoreClock = .system, feed: JobFeed, logger: Logger = Logger(label: "attachprep.jobs")
    ) async throws -> SQLiteStore {
        try await BlockingThread().run {
            let store = try openBlocking(path, durability, role, limits, clock, feed, logger)
            if role == .service { try store.recover() }
            return store
        }
    }

    private static func openBlocking(
        _ path: String, _ durability: StoreDurability, _ role: StoreRole, _ limits: StoreLimits, _ clock: StoreClock,
        _ feed: JobFeed, _ logger: Logger
    ) throws -> SQLiteStore {
        let folder = DataFolder(path: path)
        let lock = try prepare(folder, role)
        try DatabaseCheck(path: folder.database, isThorough: role == .service).run()
        do {
            let pool = try DatabasePool(path: folder.database, configuration: configuration)
            try pool.writeWithoutTransaction { database in
                try StoreSchema.make(in: database)
                // DatabasePool has set NORMAL.
                if durability == .always { try database.execute(sql: "PRAGMA synchronous = FULL") }
            }
            return try SQLiteStore(
                folder: folder, lock: lock, pool: pool, durability: durability, limits: limits, clock: clock,
                feed: feed, logger: logger)
        } catch {
            throw StorageErrors.error(error)
        }
    }

    private static func prepare(_ folder: DataFolder, _ role: StoreRole) throws -> FolderLock? {
        switch role {
        case .service:
            try folder.make()
            let lock = try FolderLock(folder)
            try folder.makeDatabaseFile()
            return lock
        case .command:
            guard folder.hasDatabase else {
                throw AttachPrepError(
                    .queueUnavailable,
                    "\(folder.path) has no job database; start attachprep serve with this --state first.",
                    isRetryable: false)
            }
            return nil
        }
    }

    private static var configuration: GRDB.Configuration {
        var configuration = GRDB.Configuration()
        configuration.label = "attachprep.jobs"
        configuration.busyMode = .timeout(busySeconds)
        configuration.prepareDatabase { database in
            // Overwrite deleted content, so that deleted secrets are not left in the file.
            try database.execute(sql: "PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY")
        }
        return configuration
    }

    /// Reclaims everything that earlier processes held; the lock guarantees that none of them is running.
    private func recover() throws {
        let moment = clock.now()
        do {
            let lost = try pool.write { database in
                let lost = try ExpiredLeases.reclaim(database, until: .max, at: moment)
                try database.run("UPDATE webhook SET lease_until = NULL WHERE lease_until IS NOT NULL")
                try ClockJumps.adjust(database, at: moment)
                return lost
            }
            for job in lost {
                logger.notice("the previous process was lost with this job", metadata: ["job": "\(job.job)"])
            }
        } catch {
            throw StorageErrors.error(error)
        }
        try files.sweepUploadsInProgress()
    }
}
