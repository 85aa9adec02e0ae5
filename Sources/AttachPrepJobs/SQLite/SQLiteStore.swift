import GRDB
import Logging
import RichPush
import Synchronization

/// Everything that a worker and a service keep, in one SQLite database and the files beside it.
///
/// ```swift
/// let store = try await SQLiteStore.open(folder: "/var/lib/attachprep", role: .service, feed: feed)
/// await store.close()
/// ```
/// Times are read from two clocks: a lease goes by the steady one, so that a wall clock that jumps neither loses nor
/// prolongs it; everything that people see goes by the wall's.
public final class SQLiteStore: Sendable {
    let folder: StoreFolder
    let limits: StoreLimits
    let durability: StoreDurability
    let clock: StoreClock
    let pool: DatabasePool
    let commits: GroupCommit
    let turns = LaneTurns()
    let isolation = IsolationTurn()
    /// How this process ends, for the next one; nil for a command.
    let run = Mutex<RunRecord?>(nil)
    let jumps: ClockJumps
    let files: ContentFiles
    let rounds = SweepRounds()
    /// Whether the last housekeeping left more files than there may be.
    let isOverQuota = Atomic(false)
    let logger: Logger
    /// Held as long as the store is there; nil for a command.
    private let lock: FolderLock?

    init(
        folder: StoreFolder, lock: FolderLock?, pool: DatabasePool, durability: StoreDurability, limits: StoreLimits,
        clock: StoreClock, feed: JobFeed, logger: Logger
    ) throws {
        self.folder = folder
        self.lock = lock
        self.pool = pool
        self.durability = durability
        self.limits = limits
        self.clock = clock
        self.logger = logger
        commits = GroupCommit(pool: pool, feed: feed)
        jumps = ClockJumps(clock.now())
        files = try ContentFiles(folder: folder, durability: durability)
    }

    /// Ends all work with the database and gives the folder back. What comes afterwards fails with
    /// `queue.unavailable`.
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
        run.withLock { $0 }?.end()
        lock?.release()
    }

    /// Whether nothing is taken in, because the last housekeeping left more files than there may be.
    public var isFull: Bool { isOverQuota.load(ordering: .relaxed) }

    /// None: each call finds out for itself.
    public var fault: String? { nil }

    /// A change, kept when it returns.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, inout [JobFeed.Change]) throws -> Value
    ) async throws -> Value {
        try await commits.write(body)
    }

    /// A look at what was kept last, beside all changes.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await pool.read(body)
        } catch {
            throw StoreFault.error(error)
        }
    }
}

extension SQLiteStore {
    /// Changes rows as another program, another version or a bad disk might, for tests.
    package func alter(_ sql: String) async throws {
        try await pool.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    /// Lets the database grow no further than so many pages, or than it is: what a full disk does, for tests.
    ///
    /// - Returns: the limit before.
    package func limitPages(to count: Int) async throws -> Int {
        try await pool.writeWithoutTransaction { database in
            let before = try Int.fetchOne(database, sql: "PRAGMA max_page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(count)")
            return before
        }
    }
}
