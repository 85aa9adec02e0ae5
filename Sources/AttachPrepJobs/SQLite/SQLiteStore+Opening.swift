import AttachPrep
import GRDB
public import Logging
import RichPush
import Synchronization

extension SQLiteStore: JobQueue {
    /// How long a change waits for another process's.
    static let busySeconds = 5.0

    /// Opens the store of a folder, which a service makes when it is not there.
    ///
    /// - Parameters:
    ///   - feed: hears of every change that this process makes.
    ///   - marksCrashes: whether a crash of this process leaves a mark in the folder, for which signal handlers are
    ///     installed: the next service tells a crash from a kill by it.
    /// - Throws: `queue.unavailable`, which names what is in the way: another service, the folder's rights, a database
    ///   that is damaged, another program's or a newer version's. None of those files is changed.
    public static func open(
        folder path: String, durability: StoreDurability = .normal, role: StoreRole,
        limits: StoreLimits = StoreLimits(),
        clock: StoreClock = .system, feed: JobFeed, logger: Logger = Logger(label: "attachprep.jobs"),
        marksCrashes: Bool = false
    ) async throws -> SQLiteStore {
        try await BlockingLane().run {
            let store = try openBlocking(path, durability, role, limits, clock, feed, logger)
            if role == .service { try store.begin(marksCrashes: marksCrashes) }
            return store
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
            return try SQLiteStore(
                folder: folder, lock: lock, pool: pool, durability: durability, limits: limits, clock: clock,
                feed: feed, logger: logger)
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

    /// A service's first steps: acts on how the one before it ended, then begins a record of its own.
    private func begin(marksCrashes: Bool) throws {
        let record = RunRecord(folder: folder.path, marksCrashes: marksCrashes)
        do {
            try recover(record.former)
        } catch {
            throw StoreFault.error(error)
        }
        try record.begin()
        run.withLock { $0 = record }
    }

    /// The lock says that nobody else lives: what earlier processes held is free.
    private func recover(_ former: FormerEnd) throws {
        let moment = clock.now()
        var (crashed, webhooks): ([CrashedJob], Int) = ([], 0)
        let lost = try pool.write { database in
            if case .crashed = former {
                crashed = try LostLeases.takeBackCrashed(database, at: moment)
                webhooks = try LostLeases.takeBackCrashedWebhooks(database, at: moment)
            }
            let lost = try LostLeases.takeBackAll(database, at: moment)
            try database.run("UPDATE webhook SET lease_until = NULL WHERE lease_until IS NOT NULL")
            try ClockJumps.follow(database, at: moment)
            return lost
        }
        if case .crashed(let signal) = former { logger.report(crashed, webhooks: webhooks, signal: signal) }
        if !lost.isEmpty { logger.notice("jobs of an earlier process are back", metadata: ["jobs": "\(lost.count)"]) }
        try files.sweepUploadsInProgress()
    }
}

extension Logger {
    /// One line for the crash, and one for each job that was in flight.
    func report(_ jobs: [CrashedJob], webhooks: Int = 0, signal: Int) {
        error(
            "the last process crashed",
            metadata: ["signal": "\(signal)", "jobs": "\(jobs.count)", "webhooks": "\(webhooks)"])
        for job in jobs {
            error(
                job.crashes >= CrashPolicy.crashesMax
                    ? "a job crashed the process too often; it is dead" : "a job was in flight; it runs alone next",
                metadata: ["job": "\(job.id)", "crashes": "\(job.crashes)", "signal": "\(signal)"])
        }
    }
}
