internal import Linux
internal import Logging
internal import MediaTypes
internal import SQLStore
internal import SafeArithmetic
internal import Synchronization

extension Limits {
    /// Notifications that wait for their receiver; the oldest are dropped, and `interrupted` follows.
    static let waitingNotificationsMax = 10_000
}

/// Receives notifications on a connection and a thread of its own.
final class PostgresListener: Sendable {
    let notifications: AsyncStream<SQLNotification>
    private let continuation: AsyncStream<SQLNotification>.Continuation
    private let address: PostgresAddress
    private let settings: PostgresTransaction.Settings
    private let logger: Logger
    /// Raised once, to end the thread.
    private let stopped: EventCounter
    private let isStopped = Atomic(false)

    /// How often an idle connection is checked; also keeps the state of firewalls.
    private static let checkInterval = Duration.seconds(10)
    /// How long the notification takes that `canReceive` sends to itself.
    private static let probeTimeout = Duration.seconds(2)
    /// How often a connection without notifications is tried again.
    private static let unsupportedInterval = Duration.seconds(60)
    private static let retryDelays = [0.2, 0.5, 1, 2, 5].map { Duration.seconds($0) }

    init(_ address: PostgresAddress, _ settings: PostgresTransaction.Settings, _ logger: Logger) throws {
        self.address = address
        self.settings = settings
        self.logger = logger
        stopped = try EventCounter()
        (notifications, continuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(Limits.waitingNotificationsMax))
    }

    /// Starts the thread; without one, notifications are not supported.
    func start() {
        do { try DedicatedThread.start(name: "postgres listen") { [self] in work() } } catch {
            logger.error(
                "No thread could be started for notifications; the queue is polled", metadata: ["error": "\(error)"])
            send(.unsupported)
        }
    }

    func stop() {
        let wasStopped = isStopped.exchange(true, ordering: .relaxed)
        if !wasStopped { stopped.raise() }
        continuation.finish()
    }

    private func send(_ notification: SQLNotification) {
        if case .dropped = continuation.yield(notification) { continuation.yield(.interrupted) }
    }

    // MARK: The thread

    private func work() {
        var failures = 0
        while !isStopped.load(ordering: .relaxed) {
            var delay = Self.unsupportedInterval
            do {
                try listen { failures = 0 }
            } catch {
                delay = Self.retryDelays[min(failures, Self.retryDelays.count - 1)]
                failures += 1
                if failures == 1 { logger.notice("Notifications are interrupted", metadata: ["error": "\(error)"]) }
            }
            send(.unsupported)
            pause(delay)
        }
    }

    private func pause(_ delay: Duration) {
        _ = try? Readiness.wait(for: [stopped.descriptor], deadline: .now.advanced(by: delay))
    }

    /// Receives until the listener is stopped; returns early if the connection does not deliver notifications.
    private func listen(onSuccess: () -> Void) throws {
        let connection = try PostgresConnection(address)
        let limit = settings.timeouts.roundTrip
        let channel = settings.schema.channel
        _ = try connection.run([SQLStatement("LISTEN \"\(channel)\"")], within: limit)
        guard let first = try probe(connection) else {
            if !isStopped.load(ordering: .relaxed) {
                // Else the pooler would deliver them to others.
                _ = try connection.run([SQLStatement("UNLISTEN *")], within: limit)
                logger.notice(
                    "This connection delivers no notifications (a pooler of transactions); the queue is polled")
            }
            return
        }
        onSuccess()
        send(.interrupted)
        deliver(first)
        while !isStopped.load(ordering: .relaxed) {
            let ready = try Readiness.wait(
                for: [connection.socket, stopped.descriptor], deadline: .now.advanced(by: Self.checkInterval))
            if ready.isEmpty { _ = try connection.run([SQLStatement("SELECT 1")], within: limit) }
            deliver(try connection.notifications(on: channel))
        }
    }

    private func deliver(_ payloads: [String]) {
        for payload in payloads where !payload.utf8.starts(with: Self.probePrefix.utf8) { send(.message(payload)) }
    }

    // MARK: Whether notifications arrive

    /// Every process that listens receives the probes of all.
    private static let probePrefix = "attachprep probe "

    /// Sends a notification from another connection and waits for it: LISTEN succeeds behind a pooler of transactions,
    /// but the notifications go to whichever client has the server's connection.
    ///
    /// - Returns: What arrived; nil when the probe did not.
    private func probe(_ connection: PostgresConnection) throws -> [String]? {
        let (channel, payload) = (settings.schema.channel, "\(Self.probePrefix)\(UInt64.random(in: 0...UInt64.max))")
        let sender = try PostgresConnection(address)
        let notification = SQLStatement("SELECT pg_catalog.pg_notify($1, $2)", [.text(channel), .text(payload)])
        _ = try sender.run([notification], within: settings.timeouts.roundTrip)
        let deadline = ContinuousClock.now.advanced(by: Self.probeTimeout)
        var received: [String] = []
        while !isStopped.load(ordering: .relaxed), ContinuousClock.now < deadline {
            received += try connection.notifications(on: channel)
            if received.contains(where: { $0.utf8.elementsEqual(payload.utf8) }) { return received }
            _ = try Readiness.wait(for: [connection.socket, stopped.descriptor], deadline: deadline)
        }
        return nil
    }
}
