import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
public import Logging
import MediaTypes
public import SQLStore

/// The store of one machine: a SQLite database in a data folder, with the files beside it.
public enum SQLiteStore {
    /// Opens the store of a folder; a service creates it when it does not exist.
    ///
    /// ```swift
    /// let store = try await SQLiteStore.open(folder: "/var/lib/attachprep", role: .service, feed: feed)
    /// await store.close()
    /// ```
    /// Two clocks are used: leases use the boot clock, so that a step of the wall clock neither loses nor extends them;
    /// all visible times use the wall clock.
    /// - Parameters:
    ///   - feed: receives every change that this process makes.
    /// - Throws: `queue.unavailable`, which names the cause: another service, permissions, or a database that is
    ///   damaged, of another program or of a newer version. None of the files is changed then.
    public static func open(
        folder path: String, durability: StoreDurability = .normal, role: StoreRole,
        limits: StoreLimits = StoreLimits(), clock: StoreClock = .system, feed: JobFeed,
        logger: Logger = Logger(label: "attachprep.jobs")
    ) async throws -> SQLJobStore {
        let (database, files) = try await BlockingThread().run {
            let folder = DataFolder(path: path)
            let lock = try prepare(folder, role: role)
            return (
                try SQLiteDatabase(path: folder.database, durability: durability, lock: lock),
                try ContentFiles(path: path, durability: durability)
            )
        }
        let uploads = LocalUploads(files)
        do {
            try await StoreSchema.migrate(database)
        } catch let error as SQLError {
            throw AttachPrepError(.queueUnavailable, error.message, detail: error.detail)
        }
        let store = try await SQLJobStore.open(
            database, seal: nil, files: files, uploads: uploads, limits: limits, clock: clock,
            feed: feed, logger: logger)
        if role == .service {
            try await store.recover()
            try await uploads.sweepInProgress()
        }
        return store
    }

    private static func prepare(_ folder: DataFolder, role: StoreRole) throws -> FolderLock? {
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
                    "\(folder.path) has no job database; start attachprep serve with this --data first.",
                    isRetryable: false)
            }
            return nil
        }
    }
}
