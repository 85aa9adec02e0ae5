import AttachPrep
import Linux
import MediaTypes
import NIOCore
import NIOPosix
import SafeArithmetic
import Synchronization

/// Counts open connections, in total and per client address, and evicts one for a new one when a limit is reached.
final class ConnectionRegistry: Sendable {
    private struct State {
        /// Connections within the limits.
        var full: [ObjectIdentifier: OpenConnection] = [:]
        /// Connections over a limit.
        var rejected: [ObjectIdentifier: OpenConnection] = [:]
        var ofClient: [String: Int] = [:]
        /// All sockets, including those that are being closed.
        var open = 0
        var isDraining = false
    }

    enum AdmissionDecision: Hashable, Sendable {
        case accepted
        /// Over `limit`: only probes are answered.
        case tooMany
        /// The service is stopping: only probes are answered.
        case stopping
        /// Over `addressLimit`.
        case tooManyOfAddress
    }

    let limit: Int
    /// For each client address; 0 disables the limit.
    let addressLimit: Int
    private let state = Mutex(State())
    private let memory = MemoryTrimmer()

    init(limit: Int, addressLimit: Int = 0) {
        (self.limit, self.addressLimit) = (limit, addressLimit)
    }

    /// Registers a new connection, and evicts another one if a limit is reached.
    func begin(_ connection: OpenConnection) -> AdmissionDecision {
        let (decision, evicted) = state.withLock { state in
            state.open += 1
            memory.noteOpen(state.open)
            return add(connection, to: &state)
        }
        evicted?.evict()
        return decision
    }

    private func add(_ connection: OpenConnection, to state: inout State) -> (AdmissionDecision, OpenConnection?) {
        let id = ObjectIdentifier(connection)
        let admission = ConnectionAdmission<ObjectIdentifier>(
            connection.client, counts: (state.full.count, connection.client.flatMap { state.ofClient[$0] } ?? 0),
            limits: (limit, addressLimit), isDraining: state.isDraining, open: Self.facts(state.full), at: .now())
        switch admission {
        case .accepted:
            Self.count(connection, in: &state)
            return (.accepted, nil)
        case .replaces(let evicted):
            let evicted = Self.remove(evicted, in: &state)
            Self.count(connection, in: &state)
            return (.accepted, evicted)
        case .probesOnly, .tooManyOfAddress:
            let evicted = Self.connectionToEvict(state.rejected).flatMap { state.rejected.removeValue(forKey: $0) }
            state.rejected[id] = connection
            return (
                admission == .tooManyOfAddress ? .tooManyOfAddress : state.isDraining ? .stopping : .tooMany, evicted
            )
        }
    }

    func end(_ connection: OpenConnection) {
        let open = state.withLock { state in
            state.open -= 1
            let id = ObjectIdentifier(connection)
            state.rejected[id] = nil
            _ = Self.remove(id, in: &state)
            return state.open
        }
        memory.noteClosed(leaving: open)
    }

    /// Restricts new connections to probes; open connections close after the response in progress.
    func drain() {
        let open = state.withLock { state in
            state.isDraining = true
            return Array(state.full.values)
        }
        for connection in open { connection.quiesce() }
    }

    // MARK: Helpers

    private static func facts(
        _ open: [ObjectIdentifier: OpenConnection]
    ) -> [ConnectionAdmission<ObjectIdentifier>.Open] {
        open.map { .init(id: $0, client: $1.client, activity: $1.activity) }
    }

    /// The rejected connection to close, so that idle ones do not block probes; nil while fewer than half of
    /// `rejectedConnectionsMax` are open.
    private static func connectionToEvict(_ rejected: [ObjectIdentifier: OpenConnection]) -> ObjectIdentifier? {
        guard rejected.count >= Limits.rejectedConnectionsMax / 2 else { return nil }
        return ConnectionAdmission.connectionToEvict(among: facts(rejected), at: .now())
    }

    private static func count(_ connection: OpenConnection, in state: inout State) {
        state.full[ObjectIdentifier(connection)] = connection
        if let client = connection.client { state.ofClient[client, default: 0] += 1 }
    }

    private static func remove(_ id: ObjectIdentifier, in state: inout State) -> OpenConnection? {
        guard let connection = state.full.removeValue(forKey: id) else { return nil }
        if let client = connection.client, let count = state.ofClient[client] {
            state.ofClient[client] = count > 1 ? count.subtracting(clamping: 1) : nil
        }
        return connection
    }
}

/// An open connection, accessible from all threads; its channel handlers run on its event loop.
final class OpenConnection: Sendable {
    /// From `ClientAddress`; nil if the connection counts only for the total.
    let client: String?
    private let channel: any Channel
    private let current = Mutex(ConnectionActivity.idle(since: .now()))

    init(client: String?, channel: any Channel) {
        (self.client, self.channel) = (client, channel)
    }

    var activity: ConnectionActivity {
        get { current.withLock(\.self) }
        set { current.withLock { $0 = newValue } }
    }

    fileprivate func evict() { channel.pipeline.fireUserInboundEventTriggered(ConnectionEvicted()) }

    fileprivate func quiesce() { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
}

/// An inbound event that tells a connection to close in favor of a new one.
struct ConnectionEvicted: Sendable {}

/// The client address that a connection counts for.
enum ClientAddress {
    /// The client of an address: an IPv4 address, or the /64 network of an IPv6 address, which usually belongs to one
    /// client.
    ///
    /// - Returns: Nil for loopback and private addresses, which are not counted: they belong to proxies, load balancers
    ///   and ingresses that carry the connections of all clients.
    static func counted(_ text: String?) -> String? {
        guard let address = text.flatMap({ IPAddress($0) }), AddressPolicy().blockedRange(of: address) == nil else {
            return nil
        }
        switch address {
        case .v4: return "\(address)"
        case .v6(let number): return "\(IPAddress.v6((number >> 64) << 64))/64"
        }
    }
}

/// What an open connection waits for; determines which one is evicted.
enum ConnectionActivity: Sendable, Hashable {
    /// No complete request head has been received since then, and no response is in progress.
    case idle(since: NIODeadline)
    /// A request's body is being received; until then it arrived at the minimum rate or faster.
    case receiving(progress: NIODeadline)
    /// The client has not read written bytes since then.
    case unread(since: NIODeadline)
    /// A request is being answered.
    case answering
}

/// Decides on the admission of a new connection.
enum ConnectionAdmission<ID: Hashable & Sendable>: Hashable, Sendable {
    case accepted
    /// Accepted; this connection is evicted for it.
    case replaces(ID)
    /// Over the total limit, or the service is stopping: only probes are answered.
    case probesOnly
    /// Over the limit of its address.
    case tooManyOfAddress

    struct Open {
        let id: ID
        let client: String?
        let activity: ConnectionActivity
    }

    /// A connection idle for longer is evicted before connections with slow bodies.
    static var idleGrace: TimeAmount { .seconds(1) }
    /// A connection idle for less is not evicted: its first request may be on its way.
    static var headGrace: TimeAmount { .milliseconds(100) }
    /// A body may fall behind the minimum rate for this long before its connection can be evicted.
    static var receivingGrace: TimeAmount { .seconds(2) }
    /// A client may read nothing for this long, as on a bad mobile network, before its connection can be evicted.
    static var unreadGrace: TimeAmount { .seconds(10) }

    /// - Parameters:
    ///   - client: the client that the new connection counts for; nil if it counts only for the total.
    ///   - counts: open connections without the new one, in total and of that client.
    ///   - limits: the limits of both counts; 0 disables the limit per client.
    ///   - open: evaluated only if a limit is reached.
    init(
        _ client: String?, counts: (all: Int, ofClient: Int), limits: (all: Int, ofClient: Int),
        isDraining: Bool = false, open: @autoclosure () -> [Open], at now: NIODeadline
    ) {
        if isDraining {
            self = .probesOnly
        } else if client != nil, limits.ofClient > 0, counts.ofClient >= limits.ofClient {
            let own = open().filter { $0.client == client }
            self = Self.connectionToEvict(among: own, at: now).map(Self.replaces) ?? .tooManyOfAddress
        } else if counts.all >= limits.all {
            self = Self.connectionToEvict(among: open(), at: now).map(Self.replaces) ?? .probesOnly
        } else {
            self = .accepted
        }
    }

    /// The connection to evict: first one that has been idle for `idleGrace`, then one with a slow body, then one whose
    /// client does not read, then one idle for less; the oldest of each kind.
    static func connectionToEvict(among open: [Open], at now: NIODeadline) -> ID? {
        open.compactMap { one in rank(one.activity, at: now).map { (one.id, $0) } }.min { $0.1 < $1.1 }?.0
    }

    /// - Returns: Nil for a connection that must not be evicted.
    private static func rank(_ activity: ConnectionActivity, at now: NIODeadline) -> (Int, NIODeadline)? {
        switch activity {
        case .idle(let since) where now - since < headGrace: nil
        case .idle(let since): (now - since < idleGrace ? 3 : 0, since)
        case .receiving(let progress): now - progress > receivingGrace ? (1, progress) : nil
        case .unread(let since): now - since > unreadGrace ? (2, since) : nil
        case .answering: nil
        }
    }
}

/// Returns freed memory to the system (malloc_trim) after a peak of connections: glibc otherwise keeps fragmented free
/// memory in each thread's arena.
final class MemoryTrimmer: Sendable {
    private struct State {
        var open = 0
        /// The maximum of open connections since the last trim.
        var peak = 0
        var lastAt: ContinuousClock.Instant?
        var isPlanned = false
    }

    private let state = Mutex(State())

    /// Peaks below this free too little memory to be worth trimming every arena.
    private static let peakMin = 32
    /// The minimum interval: a trim locks each arena briefly, and clients must not be able to trigger trims at will.
    private static let pause = Duration.seconds(2)

    func noteOpen(_ open: Int) {
        state.withLock { state in
            state.open = open
            state.peak = max(state.peak, open)
        }
    }

    func noteClosed(leaving open: Int) {
        let isDue = state.withLock { state in
            state.open = open
            guard !state.isPlanned, state.peak >= Self.peakMin, open <= state.peak / 2 else { return false }
            state.isPlanned = true
            return true
        }
        guard isDue else { return }
        Task { await trim() }
    }

    private func trim() async {
        let wait = state.withLock { state -> Duration in
            guard let lastAt = state.lastAt else { return .milliseconds(200) }
            return max(.milliseconds(200), Self.pause - (ContinuousClock.now - lastAt))
        }
        // Waits for other connections that are closing at the same time.
        try? await ContinuousClock().sleep(for: wait)
        try? await NIOThreadPool.singleton.runIfActive { OwnProcess.trimMemory() }
        state.withLock { state in
            // Memory freed from now on belongs to the next trim.
            (state.peak, state.lastAt, state.isPlanned) = (state.open, .now, false)
        }
    }
}

extension Limits {
    /// Connections over the limit, on which only probes are answered; further ones wait to be accepted.
    static let rejectedConnectionsMax = 100
}
