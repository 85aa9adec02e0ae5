import AttachPrep
import NIOCore
import RichPush
import SafeArithmetic
import Synchronization

/// The open connections: how many there are, in all and of each client address, and which one makes room for a new one.
final class ConnectionCount: Sendable {
    private struct State {
        /// Those that are answered.
        var full: [ObjectIdentifier: OpenConnection] = [:]
        /// Those over a limit.
        var refused: [ObjectIdentifier: OpenConnection] = [:]
        var ofClient: [String: Int] = [:]
        /// Every socket, those that are being closed as well.
        var open = 0
        var isDraining = false
    }

    /// What a new connection gets.
    enum Verdict: Hashable, Sendable {
        case accepted
        /// One more than `limit`: for probes.
        case tooMany
        /// The service is stopping: for probes.
        case stopping
        /// One more than `addressLimit`.
        case tooManyOfAddress
    }

    let limit: Int
    /// For each client address; 0 does not limit.
    let addressLimit: Int
    private let state = Mutex(State())
    private let memory = FreedMemory()

    init(limit: Int, addressLimit: Int = 0) {
        (self.limit, self.addressLimit) = (limit, addressLimit)
    }

    /// Adds a connection, until it is closed; the one that makes room for it is told to close.
    func begin(_ connection: OpenConnection) -> Verdict {
        let (verdict, victim) = state.withLock { state in
            state.open += 1
            memory.noteOpen(state.open)
            return add(connection, to: &state)
        }
        victim?.evict()
        return verdict
    }

    private func add(_ connection: OpenConnection, to state: inout State) -> (Verdict, OpenConnection?) {
        let id = ObjectIdentifier(connection)
        let admission = ConnectionAdmission<ObjectIdentifier>(
            connection.client, counts: (state.full.count, connection.client.flatMap { state.ofClient[$0] } ?? 0),
            limits: (limit, addressLimit), isDraining: state.isDraining, open: Self.facts(state.full), at: .now())
        switch admission {
        case .accepted:
            Self.count(connection, &state)
            return (.accepted, nil)
        case .replaces(let victim):
            let victim = Self.remove(victim, &state)
            Self.count(connection, &state)
            return (.accepted, victim)
        case .probesOnly, .tooManyOfAddress:
            let victim = Self.crowded(state.refused).flatMap { state.refused.removeValue(forKey: $0) }
            state.refused[id] = connection
            return (
                admission == .tooManyOfAddress ? .tooManyOfAddress : state.isDraining ? .stopping : .tooMany, victim
            )
        }
    }

    func end(_ connection: OpenConnection) {
        let open = state.withLock { state in
            state.open -= 1
            let id = ObjectIdentifier(connection)
            state.refused[id] = nil
            _ = Self.remove(id, &state)
            return state.open
        }
        memory.noteClosed(leaving: open)
    }

    /// From now on new connections are for probes; those that are open end with the answer under way.
    func drain() {
        let open = state.withLock { state in
            state.isDraining = true
            return Array(state.full.values)
        }
        for connection in open { connection.quiesce() }
    }

    // MARK: Their parts

    private static func facts(
        _ open: [ObjectIdentifier: OpenConnection]
    ) -> [ConnectionAdmission<ObjectIdentifier>.Open] {
        open.map { .init(id: $0, client: $1.client, activity: $1.activity) }
    }

    /// Silent connections over the limit must not keep probes from being accepted: half of what is accepted over it.
    private static func crowded(_ refused: [ObjectIdentifier: OpenConnection]) -> ObjectIdentifier? {
        guard refused.count >= Limits.refusedConnectionsMax / 2 else { return nil }
        return ConnectionAdmission.victim(among: facts(refused), at: .now())
    }

    private static func count(_ connection: OpenConnection, _ state: inout State) {
        state.full[ObjectIdentifier(connection)] = connection
        if let client = connection.client { state.ofClient[client, default: 0] += 1 }
    }

    private static func remove(_ id: ObjectIdentifier, _ state: inout State) -> OpenConnection? {
        guard let connection = state.full.removeValue(forKey: id) else { return nil }
        if let client = connection.client, let count = state.ofClient[client] {
            state.ofClient[client] = count > 1 ? count.subtracting(clamping: 1) : nil
        }
        return connection
    }
}

/// One of them, as others see it: its handlers run on its event loop.
final class OpenConnection: Sendable {
    /// From `ClientAddress`; nil for one that is counted in all alone.
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

/// Sent to a connection that makes room for a new one.
struct ConnectionEvicted: Sendable {}

/// Whom a connection is counted for.
enum ClientAddress {
    /// The address as connections are counted by it: IPv6 by its network of 64 bits, which one client has for itself.
    ///
    /// - Returns: nil for what is not counted: this machine's and private addresses. These are proxies, load balancers
    ///   and ingresses, and all the world has their address.
    static func counted(_ text: String?) -> String? {
        guard let address = text.flatMap({ IPAddress($0) }), AddressWall().refusal(of: address) == nil else {
            return nil
        }
        switch address {
        case .v4: return "\(address)"
        case .v6(let number): return "\(IPAddress.v6((number >> 64) << 64))/64"
        }
    }
}
