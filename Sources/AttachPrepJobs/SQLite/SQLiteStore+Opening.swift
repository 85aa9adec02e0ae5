import AttachPrep
import GRDB
public import Logging
import RichPush

extension SQLiteStore: JobQueue {
    /// How long a change waits for another process's.
    static let busySeconds = 5.0

    /// Opens the store of a folder, which a service makes when it is not there.
    ///
    /// - Parameter feed: hears of every change that this process makes.
    /// - Throws: `queue.unavailable`, which names what is in the way: another service, the folder's rights, a database
    ///   that is damaged, another program's or a newer version's. None of those files is changed.
    public static func open(
        folder path: String, durability: StoreDurability = .normal, role: StoreRole,
        limits: StoreLimits = StoreLimits(),
        clock: StoreClock = .system, feed: JobFeed, logger: Logger = Logger(label: "attachprep.jobs")
    ) async throws -> SQLiteStore {
        try await BlockingLane().run {
            try openBlocking(path, durability, role, limits, clock, feed, logger)
        }
    }

    private static func openBlocking(
        _ path: String, _ durability: StoreDurability, _ role: StoreRole, _ limits: StoreLimits, _ clock: StoreClock,
        _ feed: JobFeed, _ logger: Logger
    ) throws -> SQLiteStore {
        let folder = StoreFolder(path: path)
        let lock = try prepare(folder, role)
        try DatabaseExamination(path: folder.database, isThorough: role == .service).run()
        do {
            let pool = try DatabasePool(path: folder.database, configuration: configuration)
            try pool.writeWithoutTransaction { database in
                try StoreSchema.make(in: database)
                // The pool has set NORMAL.
                if durability == .always { try database.execute(sql: "PRAGMA synchronous = FULL") }
            }
            let store = try SQLiteStore(
                folder: folder, lock: lock, pool: pool, durability: durability, limits: limits, clock: clock,
                feed: feed, logger: logger)
            if role == .service { try store.recover() }
            return store
        } catch {
            throw StoreFault.error(error)
        }
    }

    private static func prepare(_ folder: StoreFolder, _ role: StoreRole) throws -> FolderLock? {
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
            // What is wiped is gone from the file, too.
            try database.execute(sql: "PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY")
        }
        return configuration
    }

    /// The lock says that nobody else lives: what earlier processes held is free.
    private func recover() throws {
        let moment = clock.now()
        let lost = try pool.write { database in
            let lost = try LostLeases.takeBackAll(database, at: moment)
            try database.run("UPDATE webhook SET lease_until = NULL WHERE lease_until IS NOT NULL")
            try ClockJumps.cut(database, at: moment)
            return lost
        }
        if !lost.isEmpty { logger.notice("jobs of an earlier process are back", metadata: ["jobs": "\(lost.count)"]) }
        try files.sweepUploadsInProgress()
    }
}
