import GRDB
import Logging
import RichPush

/// Everything that a worker and a service keep, in one SQLite database and the files beside it.
///
/// ```swift
/// let store = try await SQLiteStore.open(folder: "/var/lib/attachprep", role: .service, feed: feed)
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
    let jumps: ClockJumps
    let files: ContentFiles
    let rounds = SweepRounds()
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
