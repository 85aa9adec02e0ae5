package import AttachPrepJobs
import AttachPrepModel
package import GRDB
import RichPush
import Synchronization

/// Commits concurrent changes together: one transaction and one fsync for all of them.
///
/// Each change has its own savepoint, so that a failing change does not affect the others. Only a failing commit fails
/// all of them.
package final class GroupCommit: Sendable {
    /// Maximum number of changes per commit, which bounds how long the first one waits.
    private static let groupCountMax = 256

    private struct Write: Sendable {
        /// Changes the database; returns the changes to publish, and the closure to call after the commit.
        var run: @Sendable (Database) throws -> (changes: [JobFeed.Change], resume: @Sendable () -> Void)
        var fail: @Sendable (any Error) -> Void
    }

    private struct Waiting {
        var writes: [Write] = []
        var isWorking = false
    }

    private let pool: DatabasePool
    private let feed: JobFeed
    private let conclude: @Sendable (Database) throws -> Void
    private let waiting = Mutex(Waiting())

    /// - Parameter conclude: called with the database after a group's changes, before they are committed.
    package init(
        pool: DatabasePool, feed: JobFeed, conclude: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) {
        self.pool = pool
        self.feed = feed
        self.conclude = conclude
    }

    /// Runs a change on the writer thread and returns after it is committed.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, inout [JobFeed.Change]) throws -> Value
    ) async throws -> Value {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                push(
                    Write(
                        run: { database in
                            var changes: [JobFeed.Change] = []
                            let value = try body(database, &changes)
                            return (changes, { continuation.resume(returning: value) })
                        },
                        fail: { continuation.resume(throwing: $0) }))
            }
        } catch {
            throw StorageErrors.error(error)
        }
    }

    private func push(_ write: Write) {
        let begins = waiting.withLock { waiting in
            waiting.writes.append(write)
            defer { waiting.isWorking = true }
            return !waiting.isWorking
        }
        if begins { pool.asyncWriteWithoutTransaction { self.commitLoop($0) } }
    }

    private func commitLoop(_ database: Database) {
        while let group = nextGroup() { commit(group, database) }
    }

    private func nextGroup() -> [Write]? {
        waiting.withLock { waiting in
            guard !waiting.writes.isEmpty else {
                waiting.isWorking = false
                return nil
            }
            let group = Array(waiting.writes.prefix(Self.groupCountMax))
            waiting.writes.removeFirst(group.count)
            return group
        }
    }

    private func commit(_ group: [Write], _ database: Database) {
        var done: [(changes: [JobFeed.Change], resume: @Sendable () -> Void)] = []
        var failures: [(write: Write, error: any Error)] = []
        do {
            try database.inTransaction(.immediate) {
                for write in group {
                    do {
                        done.append(try Self.run(write, isAlone: group.count == 1, database))
                    } catch {
                        failures.append((write, error))
                        // A full disk rolls back the whole transaction, and with it the changes of others; a single
                        // change has no savepoint to roll back to.
                        if group.count == 1 || !database.isInsideTransaction { throw error }
                    }
                }
                try conclude(database)
                return .commit
            }
        } catch {
            for write in group { write.fail(error) }
            return
        }
        feed.publish(done.flatMap(\.changes))
        for one in done { one.resume() }
        for failure in failures { failure.write.fail(failure.error) }
    }

    private static func run(
        _ write: Write, isAlone: Bool, _ database: Database
    ) throws -> (changes: [JobFeed.Change], resume: @Sendable () -> Void) {
        if isAlone { return try write.run(database) }
        try database.run("SAVEPOINT one")
        do {
            let done = try write.run(database)
            try database.run("RELEASE one")
            return done
        } catch {
            if database.isInsideTransaction {
                try database.run("ROLLBACK TO one")
                try database.run("RELEASE one")
            }
            throw error
        }
    }
}

extension StorageErrors {
    /// Converts a SQLite error to an `AttachPrepError`; returns every other error unchanged.
    package static func error(_ error: any Error) -> any Error {
        guard let databaseError = error as? DatabaseError else { return error }
        return AttachPrepError(.queueUnavailable, sentence(databaseError), detail: "\(databaseError)")
    }

    /// A message without library text and without paths.
    private static func sentence(_ databaseError: DatabaseError) -> String {
        switch databaseError.resultCode {
        case .SQLITE_FULL: "The disk of the data folder is full; free some space."
        case .SQLITE_READONLY: "The data folder cannot be written to; check its disk and permissions."
        case .SQLITE_IOERR: "Reading or writing the data folder failed; check its disk for errors and free space."
        case .SQLITE_BUSY, .SQLITE_LOCKED: "Another process has locked the job database; try again."
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            "The job database is damaged; stop the service and restore a backup."
        case .SQLITE_CANTOPEN: "The job database cannot be opened; check the data folder."
        default: "The job database failed; see the log."
        }
    }
}
