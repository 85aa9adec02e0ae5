import Foundation
import Synchronization

/// A relay to a server on loopback that can be away: then it refuses connections, and ends those that are open.
public final class InterruptedRelay: Sendable {
    public let port: Int
    private let listener: LoopbackSocket
    private let serverPort: Int
    private let state = Mutex(State())

    private struct State {
        var open: [LoopbackSocket] = []
        var isAway = false
        var refusedCount = 0
    }

    /// - Parameter port: that of the server.
    public init(toPort port: Int) throws {
        listener = try LoopbackSocket.listen(address: "127.0.0.1", port: 0)
        self.port = try listener.localPort()
        serverPort = port
        Thread.detachNewThread { [weak self, listener] in
            while let client = listener.accept() { self?.serve(client) }
        }
    }

    deinit {
        listener.shutDown()
        for socket in state.withLock(\.open) { socket.shutDown() }
    }

    public var url: String { "http://127.0.0.1:\(port)" }

    /// Number of connections that ended at once because the server is away.
    public var refusedCount: Int { state.withLock(\.refusedCount) }

    public func setAway(_ isAway: Bool) {
        let ended = state.withLock { state in
            state.isAway = isAway
            guard isAway else { return [LoopbackSocket]() }
            defer { state.open = [] }
            return state.open
        }
        for socket in ended { socket.shutDown() }
    }

    private func serve(_ client: LoopbackSocket) {
        guard let server = try? LoopbackSocket.connected(to: serverPort) else { return client.shutDown() }
        let isAway = state.withLock { state in
            if state.isAway { state.refusedCount += 1 } else { state.open += [client, server] }
            return state.isAway
        }
        if isAway {
            client.shutDown()
            return server.shutDown()
        }
        for (from, to) in [(client, server), (server, client)] {
            Thread.detachNewThread {
                while let bytes = from.receive(), to.send(bytes) {}
                client.shutDown()
                server.shutDown()
            }
        }
    }
}
