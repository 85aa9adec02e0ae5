internal import AttachPrep
internal import Linux
internal import SQLStore
internal import Synchronization

/// A thread with a connection, which is opened by the first call and again after it was lost.
final class PostgresSession: Sendable {
    private struct State {
        var connection: PostgresConnection?
        var lastFailure: ConnectFailure?
        /// Until when calls fail without another attempt.
        var failsUntil = ContinuousClock.now
        var isClosed = false
        var waiting = 0
    }

    private let address: PostgresAddress
    private let timeouts: PostgresTimeouts
    private let thread: BlockingThread
    private let state = Mutex(State())

    init(_ address: PostgresAddress, _ timeouts: PostgresTimeouts) throws {
        self.address = address
        self.timeouts = timeouts
        thread = try BlockingThread()
    }

    /// Calls that wait or run.
    var load: Int { state.withLock(\.waiting) }

    /// Runs work with the connection, on the session's thread.
    ///
    /// - Throws: What `work` throws, and `PostgresError.notConnected`.
    func run<Value: Sendable>(_ work: @escaping @Sendable (PostgresConnection) throws -> Value) async throws -> Value {
        state.withLock { $0.waiting += 1 }
        defer { state.withLock { $0.waiting -= 1 } }
        return try await thread.run { [self] in
            let connection = try connection()
            defer {
                connection.dropNotifications()
                if !connection.isUsable { state.withLock { $0.connection = nil } }
            }
            return try work(connection)
        }
    }

    private func connection() throws -> PostgresConnection {
        let (current, failure, isClosed) = state.withLock { state in
            (state.connection, state.failsUntil > .now ? state.lastFailure : nil, state.isClosed)
        }
        if isClosed { throw PostgresError.notConnected(ConnectFailure("the database was closed")) }
        if let current, !current.isClosedByServer(within: timeouts.roundTrip) { return current }
        if let failure { throw PostgresError.notConnected(failure) }
        do {
            let connection = try PostgresConnection(address)
            state.withLock { $0.connection = connection }
            return connection
        } catch {
            state.withLock { state in
                state.connection = nil
                if case PostgresError.notConnected(let failure) = error { state.lastFailure = failure }
                state.failsUntil = .now.advanced(by: timeouts.reconnect)
            }
            throw error
        }
    }

    /// Ends the connection after the calls that wait.
    func close() async {
        try? await thread.run { [self] in
            state.withLock { state in
                state.connection = nil
                state.isClosed = true
            }
        }
    }
}
