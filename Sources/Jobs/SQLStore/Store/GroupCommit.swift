import AttachPrepJobs
import AttachPrepModel
import MediaTypes
import SafeArithmetic
import Synchronization

/// Commits the changes of concurrent calls together: one transaction, and one flush to the disk, for all of them. Each
/// call returns after its commit.
///
/// When a change fails after it has changed something, or a statement fails, the transaction is rolled back and every
/// change of the group runs again in a transaction of its own.
final class GroupCommit: Sendable {
    /// Maximum number of changes per commit, which bounds how long the first one waits.
    private static let groupCountMax = 256
    /// Attempts after conflicts with other processes.
    private static let attemptsMax = 8

    private struct Write: Sendable {
        /// The statements that are sent together with those of the other changes of the group.
        var statements: @Sendable (StoreTransaction) throws -> [SQLStatement]
        /// Runs the change with their results; returns what resumes its caller after the commit.
        var run: @Sendable (StoreTransaction, [SQLResult]) throws -> @Sendable () -> Void
        var fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var waiting: [Write] = []
        var isWorking = false
        /// The number of the last transaction.
        var number: Int64 = 0
    }

    private let database: any SQLDatabase
    private let order: TransactionOrder
    private let slot: Int64
    private let clock: StoreClock
    private let publish: @Sendable ([JobFeed.Change]) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - slot: the row of `writer` that only this object changes.
    ///   - publish: receives the changes of jobs after each commit.
    init(
        _ database: any SQLDatabase, _ order: TransactionOrder, slot: Int64, clock: StoreClock,
        publish: @escaping @Sendable ([JobFeed.Change]) -> Void
    ) {
        self.database = database
        self.order = order
        self.slot = slot
        self.clock = clock
        self.publish = publish
    }

    /// Runs a change, possibly more than once, and returns after its commit.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> Value
    ) async throws -> Value {
        try await write(sending: { _ in [] }, then: { transaction, _ in try body(transaction) })
    }

    /// Runs a change that begins with statements which do not depend on what they return: those of all changes of a
    /// group are one round trip.
    func write<Value: Sendable>(
        sending statements: @escaping @Sendable (StoreTransaction) throws -> [SQLStatement],
        then body: @escaping @Sendable (StoreTransaction, [SQLResult]) throws -> Value
    ) async throws -> Value {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                push(
                    Write(
                        statements: statements,
                        run: { transaction, results in
                            let value = try body(transaction, results)
                            return { continuation.resume(returning: value) }
                        },
                        fail: { continuation.resume(throwing: $0) }))
            }
        } catch {
            throw StoreErrors.error(error)
        }
    }

    private func push(_ write: Write) {
        let begins = state.withLock { state in
            state.waiting.append(write)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        guard begins else { return }
        // Not a child of the caller: it also commits the changes of others.
        Task.detached { [self] in
            while let group = nextGroup() { await commit(group) }
        }
    }

    private func nextGroup() -> [Write]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isWorking = false
                return nil
            }
            let group = Array(state.waiting.prefix(Self.groupCountMax))
            state.waiting.removeFirst(group.count)
            return group
        }
    }

    private func commit(_ group: [Write]) async {
        do {
            let outcome = try await committed(group)
            publish(outcome.changes)
            for resume in outcome.resumes { resume() }
            for (index, error) in outcome.failures { group[index].fail(error) }
        } catch {
            guard group.count > 1, Self.mayBeOneChange(error) else {
                for write in group { write.fail(error) }
                return
            }
            for write in group { await commit([write]) }
        }
    }

    /// Whether the group failed because of one of its changes; not when the database is away.
    private static func mayBeOneChange(_ error: any Error) -> Bool {
        guard let error = error as? SQLError else { return true }
        return error.kind == .rejected || error.kind == .conflict
    }

    // MARK: One transaction

    private struct Outcome: Sendable {
        var changes: [JobFeed.Change] = []
        var resumes: [@Sendable () -> Void] = []
        var failures: [(index: Int, error: any Error)] = []
    }

    private func committed(_ group: [Write]) async throws -> Outcome {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        for attempt in 1... {
            let outcome = Mutex(Outcome())
            do {
                try await database.transact(order) { [self] connection in
                    let result = try run(group, on: connection, number: number)
                    outcome.withLock { $0 = result }
                }
                return outcome.withLock { $0 }
            } catch let error as SQLError where error.kind == .unknownCommit {
                if try await isCommitted(number) { return outcome.withLock { $0 } }
                if attempt >= Self.attemptsMax { throw error }
            } catch let error as SQLError where error.kind == .conflict || (error.kind == .disconnected && attempt < 3)
            {
                if attempt >= Self.attemptsMax { throw error }
                try await ContinuousClock().sleep(for: .milliseconds(Int.random(in: 1...(5 * attempt))))
            }
        }
        preconditionFailure("the loop returns or throws")
    }

    private func run(_ group: [Write], on connection: any SQLConnection, number: Int64) throws -> Outcome {
        let transaction = try StoreTransaction(connection, order, clock: clock)
        var outcome = Outcome()
        let statements = try group.map { try $0.statements(transaction) }
        let sent = statements.joined()
        var results = (sent.isEmpty ? [] : try transaction.run(Array(sent)))[...]
        for (index, write) in group.enumerated() {
            let before = transaction.changesCount
            let own = Array(results.prefix(statements[index].count))
            results.removeFirst(own.count)
            do {
                outcome.resumes.append(try write.run(transaction, own))
            } catch {
                // A failure that has changed nothing does not affect the others.
                guard !(error is SQLError), group.count > 1, transaction.changesCount == before else { throw error }
                outcome.failures.append((index, error))
            }
        }
        if transaction.changesCount > 0 {
            transaction.later(transaction.counts.addition(slot: slot, number: number, at: transaction.moment.wall))
        }
        try transaction.flush()
        outcome.changes = transaction.changes
        for message in ChangeMessage.all(transaction.changes, from: slot) { try connection.notify(message) }
        return outcome
    }

    // MARK: A commit whose outcome is unknown

    /// How long the outcome is asked for; callers then get `queue.unavailable`, and repeat with their idempotency key.
    private static let outcomeSecondsMax = 60.0

    /// Ends the changes that wait behind an unknown outcome while the database is away: they have changed nothing, and
    /// their callers can try again.
    private func failWaiting(_ error: any Error) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for write in waiting { write.fail(error) }
    }

    /// Whether a transaction was committed, according to the row that it would have changed.
    ///
    /// - Throws: `queue.unavailable` when the database stays away.
    private func isCommitted(_ number: Int64) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(Self.outcomeSecondsMax)
        while true {
            let found = Mutex(Int64?.none)
            do {
                try await database.transact(.parallel) { [slot] connection in
                    // Waits for a transaction that is still being committed.
                    let last = try connection.number(
                        "SELECT number FROM writer WHERE slot = $1 \(connection.dialect.forUpdate)", [.integer(slot)])
                    found.withLock { $0 = last }
                }
                return found.withLock { $0 }.map { $0 >= number } ?? false
            } catch {
                guard ContinuousClock.now < end else { throw error }
                if (error as? SQLError)?.kind != .conflict { failWaiting(error) }
                try await ContinuousClock().sleep(for: .milliseconds(200))
            }
        }
    }
}
