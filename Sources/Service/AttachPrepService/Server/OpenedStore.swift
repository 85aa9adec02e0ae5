import AttachPrep
import AttachPrepJobs
import AttachPrepModel
public import Logging
import MediaTypes
public import PostgresDatabase
import SQLStore
import SQLiteDatabase

/// The store of a server, with what depends on where it is.
struct OpenedStore: Sendable {
    let store: SQLJobStore
    let workers: any WorkerDirectory
    let receiptKey: ReceiptKey
    /// Nil for SQLite.
    let database: PostgresDatabase?
}

extension ServeConfiguration {
    /// Opens SQLite in the data folder or the database of `--queue`, retrying while that starts.
    ///
    /// - Throws: `queue.unavailable`.
    func openStore(_ feed: JobFeed, _ logger: Logger) async throws -> OpenedStore {
        guard let queue else {
            let store = try await SQLiteStore.open(
                folder: dataFolder, durability: durability, role: .service, limits: limits, feed: feed,
                logger: logger)
            return OpenedStore(
                store: store, workers: LocalWorkerDirectory(),
                receiptKey: try await ReceiptKey.open(folder: dataFolder), database: nil)
        }
        guard case .bucket(let settings) = preparer.publish else {
            preconditionFailure("a shared queue publishes to a bucket")
        }
        let uploads = try BucketUploads(settings, policy: preparer.download, folder: dataFolder, logger: logger)
        let end = ContinuousClock.now + .seconds(Limits.queueConnectSecondsMax)
        var reason = ""
        while true {
            do {
                return try await openStore(in: queue, uploads: uploads, feed: feed, logger: logger)
            } catch let error as AttachPrepError {
                guard error.isRetryable, ContinuousClock.now < end else { throw error }
                if error.message != reason {
                    logger.warning(
                        "the database is not reachable yet, retrying",
                        metadata: [
                            "queue": "\(queue.address)", "reason": "\(error.message)",
                            "detail": "\(error.detail ?? "none")",
                        ])
                }
                reason = error.message
                try await ContinuousClock().sleep(for: .seconds(Limits.queueConnectPauseSeconds))
            }
        }
    }

    /// One attempt: the database can be lost at each step.
    private func openStore(
        in queue: QueueDatabase, uploads: BucketUploads, feed: JobFeed, logger: Logger
    ) async throws -> OpenedStore {
        let database = try await queue.open(logger)
        do {
            let store = try await SQLJobStore.open(
                database, seal: queue.seal, files: nil, uploads: uploads, limits: limits, feed: feed, logger: logger)
            return OpenedStore(
                store: store, workers: store, receiptKey: try await store.receiptKey(), database: database)
        } catch {
            await database.close()
            throw error
        }
    }
}

extension QueueDatabase {
    /// Connects, and creates or upgrades the tables.
    ///
    /// - Throws: `queue.unavailable`, with the reason.
    public func open(_ logger: Logger) async throws -> PostgresDatabase {
        let database = try await PostgresDatabase.open(address, schema: schema, logger: logger)
        do {
            try await database.ensureSchema()
            try await StoreSchema.migrate(database)
            return database
        } catch {
            await database.close()
            guard let error = error as? SQLError else { throw error }
            throw AttachPrepError(
                .queueUnavailable, error.message, detail: error.detail, isRetryable: error.kind != .rejected)
        }
    }
}

extension Limits {
    /// A process that starts before its database, or while that fails over, waits this long for it.
    package static let queueConnectSecondsMax = 60.0
    /// Pause between two connection attempts.
    static let queueConnectPauseSeconds = 1.0
}
