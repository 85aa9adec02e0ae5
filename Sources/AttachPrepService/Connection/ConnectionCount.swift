import AttachPrep
import SafeArithmetic
import Synchronization

/// How many connections are open, in all and from each client address.
final class ConnectionCount: Sendable {
    /// What a new connection gets.
    enum Verdict: Hashable, Sendable {
        case accepted
        /// One more than `limit`.
        case tooMany
        /// One more than `addressLimit`.
        case tooManyOfAddress
    }

    private struct State {
        var open = 0
        var ofClient: [String: Int] = [:]
    }

    let limit: Int
    /// For each client address; 0 does not limit.
    let addressLimit: Int
    private let state = Mutex(State())
    private let memory = FreedMemory()

    init(limit: Int, addressLimit: Int = 0) {
        (self.limit, self.addressLimit) = (limit, addressLimit)
    }

    var current: Int { state.withLock(\.open) }

    /// Counts one more, also one too many: it is counted until it is closed.
    ///
    /// - Parameter client: from `ClientAddress`; nil for one that is counted in all alone.
    func begin(_ client: String?) -> Verdict {
        state.withLock { state in
            state.open += 1
            memory.noteOpen(state.open)
            var isOverAddress = false
            if let client, addressLimit > 0 {
                state.ofClient[client, default: 0] += 1
                isOverAddress = state.ofClient[client, default: 0] > addressLimit
            }
            if state.open > limit { return .tooMany }
            return isOverAddress ? .tooManyOfAddress : .accepted
        }
    }

    func end(_ client: String?) {
        let open = state.withLock { state in
            state.open -= 1
            if let client, let count = state.ofClient[client] {
                state.ofClient[client] = count > 1 ? count.subtracting(clamping: 1) : nil
            }
            return state.open
        }
        memory.noteClosed(leaving: open)
    }
}

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
