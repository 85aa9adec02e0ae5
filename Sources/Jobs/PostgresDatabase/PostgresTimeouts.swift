/// How long a connection waits, on this machine and on the server.
public struct PostgresTimeouts: Sendable, Hashable {
    /// Until the results of one round trip have arrived: a stopped server or a dead network ends the connection then.
    /// Longer than `lock` and `statement`, which the server enforces and reports with an error of its own.
    public var roundTrip = Duration.seconds(15)
    /// For a lock, such as the one of exclusive transactions (`lock_timeout`).
    public var lock = Duration.seconds(5)
    /// Between two statements of a transaction (`idle_in_transaction_session_timeout`): a stopped process must not hold
    /// the lock of exclusive transactions for longer.
    public var idleInTransaction = Duration.seconds(5)
    /// For one statement (`statement_timeout`), COMMIT excepted: a cancel of COMMIT ends the wait for a synchronous
    /// standby but reports success.
    public var statement = Duration.seconds(12)
    /// After a failed attempt to connect, calls fail at once for this time.
    public var reconnect = Duration.milliseconds(500)

    public init() {}
}

extension Duration {
    /// For the server's settings, which take a number of milliseconds.
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
