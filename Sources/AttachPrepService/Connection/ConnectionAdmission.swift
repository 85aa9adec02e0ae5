import NIOCore

/// What an open connection waits for: decides which one is closed when there are too many.
enum ConnectionActivity: Sendable, Hashable {
    /// No whole head of a request has come since then, and nothing is being answered.
    case idle(since: NIODeadline)
    /// A request's body is still coming; until then it came fast enough.
    case receiving(progress: NIODeadline)
    /// The client has not read what was written since then.
    case unread(since: NIODeadline)
    /// A request is being answered.
    case answering
}

/// What becomes of a new connection: pure.
enum ConnectionAdmission<ID: Hashable & Sendable>: Hashable, Sendable {
    case accepted
    /// Accepted; that one is closed for it.
    case replaces(ID)
    /// One more than there may be, or the service is stopping: it can ask for probes, and the rest is refused.
    case probesOnly
    /// One more than an address may have.
    case tooManyOfAddress

    /// An open connection.
    struct Open {
        let id: ID
        let client: String?
        let activity: ConnectionActivity
    }

    /// A connection without a request makes room before bodies that are slow when it has been idle for so long.
    static var idleGrace: TimeAmount { .seconds(1) }
    /// The head of a request comes within that, else every new connection would close the one before it.
    static var headGrace: TimeAmount { .milliseconds(100) }
    /// A body may pause for so long before its connection makes room: networks do.
    static var receivingGrace: TimeAmount { .seconds(2) }
    /// A client may read nothing for so long: phones on the move do.
    static var unreadGrace: TimeAmount { .seconds(10) }

    /// - Parameters:
    ///   - client: whom the new connection is counted for; nil for nobody.
    ///   - counts: open connections, in all and of that client; the new one is not among them.
    ///   - limits: of these two; 0 does not limit those of a client.
    ///   - open: looked at only when there are too many.
    init(
        _ client: String?, counts: (all: Int, ofClient: Int), limits: (all: Int, ofClient: Int),
        isDraining: Bool = false, open: @autoclosure () -> [Open], at now: NIODeadline
    ) {
        if isDraining {
            self = .probesOnly
        } else if client != nil, limits.ofClient > 0, counts.ofClient >= limits.ofClient {
            let own = open().filter { $0.client == client }
            self = Self.victim(among: own, at: now).map(Self.replaces) ?? .tooManyOfAddress
        } else if counts.all >= limits.all {
            self = Self.victim(among: open(), at: now).map(Self.replaces) ?? .probesOnly
        } else {
            self = .accepted
        }
    }

    /// Idle ones first, then bodies that came too slowly, then clients that do not read, then those that have been idle
    /// for a moment; of each the oldest.
    static func victim(among open: [Open], at now: NIODeadline) -> ID? {
        open.compactMap { one in rank(one.activity, at: now).map { (one.id, $0) } }.min { $0.1 < $1.1 }?.0
    }

    /// - Returns: nil for a connection that stays.
    private static func rank(_ activity: ConnectionActivity, at now: NIODeadline) -> (Int, NIODeadline)? {
        switch activity {
        // Bounded: times of one clock of ours.
        case .idle(let since) where now - since < headGrace: nil
        // Bounded: times of one clock of ours.
        case .idle(let since): (now - since < idleGrace ? 3 : 0, since)
        // Bounded: times of one clock of ours.
        case .receiving(let progress): now - progress > receivingGrace ? (1, progress) : nil
        // Bounded: times of one clock of ours.
        case .unread(let since): now - since > unreadGrace ? (2, since) : nil
        case .answering: nil
        }
    }
}
