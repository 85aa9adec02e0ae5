import GRDB
import Synchronization

/// Changes that come at the same time are committed together: one transaction, and one wait for the disk, for all.
///
/// Each has a savepoint of its own, so that one that fails takes no other with it. Only a commit that fails fails all.
final class GroupCommit: Sendable {
    /// Bounds how long the first of a group waits for the last.
    private static let groupCountMax = 256

    private struct Write: Sendable {
        /// Changes the database; gives what others are told, and what to do once it is committed.
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

    /// - Parameter conclude: looks at the database when a group's changes are made, before they are committed.
    init(
        pool: DatabasePool, feed: JobFeed, conclude: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) {
        self.pool = pool
        self.feed = feed
        self.conclude = conclude
    }

    /// Runs a change on the writer's thread; returns when it is committed.
    func write<Value: Sendable>(
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
            throw StoreFault.error(error)
        }
    }

    private func push(_ write: Write) {
        let begins = waiting.withLock { waiting in
            waiting.writes.append(write)
            defer { waiting.isWorking = true }
            return !waiting.isWorking
        }
        if begins { pool.asyncWriteWithoutTransaction { self.work($0) } }
    }

    private func work(_ database: Database) {
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
                        // A full disk ends the transaction, and with it what the others did; one that is alone has
                        // no savepoint to go back to.
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
