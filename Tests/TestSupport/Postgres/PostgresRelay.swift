import Foundation
import Synchronization

/// A relay to a real PostgreSQL server that can cut connections at a chosen moment.
///
/// ```swift
/// let relay = try PostgresRelay(to: server)
/// let database = try await PostgresDatabase.open(PostgresAddress(relay.url), …)
/// relay.cutAfterRequest(with: "COMMIT")
/// ```
public final class PostgresRelay: Sendable {
    public let port: Int
    private let listener: LoopbackSocket
    private let serverPort: Int
    private let state = Mutex(State())

    private struct State {
        var open: [LoopbackSocket] = []
        var connectionCount = 0
        /// Text in a request after which answers are dropped, and whether the request is forwarded.
        var cut: (text: Data, isForwarded: Bool)?
        var isSilent = false
    }

    public init(to server: PostgresServer) throws {
        listener = try LoopbackSocket.listen(address: "127.0.0.1", port: 0)
        port = try listener.localPort()
        serverPort = server.port
        Thread.detachNewThread { [weak self, listener] in
            while let client = listener.accept() { self?.serve(client) }
        }
    }

    deinit {
        listener.shutDown()
        cutAll()
    }

    public var url: String { "postgres://postgres@127.0.0.1:\(port)/postgres?sslmode=disable" }

    public var connectionCount: Int { state.withLock(\.connectionCount) }

    /// Cuts the connection of the next request with this text.
    ///
    /// - Parameter isForwarded: whether the server receives the request and only its answer is lost.
    public func cutAtRequest(with text: String, isForwarded: Bool) {
        state.withLock { $0.cut = (Data(text.utf8), isForwarded) }
    }

    /// Ends all connections.
    public func cutAll() {
        let open = state.withLock { state in
            defer { state.open = [] }
            return state.open
        }
        for socket in open { socket.shutDown() }
    }

    /// Stops forwarding in both directions without closing anything, like a network that lost its route.
    public func setSilent(_ isSilent: Bool) { state.withLock { $0.isSilent = isSilent } }

    private func serve(_ client: LoopbackSocket) {
        guard let server = try? LoopbackSocket.connected(to: serverPort) else { return client.shutDown() }
        state.withLock { state in
            state.open += [client, server]
            state.connectionCount += 1
        }
        let losesAnswer = CutMark()
        Thread.detachNewThread { [weak self] in
            while let bytes = server.receive() {
                if losesAnswer.isSet { break }
                if self?.state.withLock(\.isSilent) == true { continue }
                guard client.send(bytes) else { break }
            }
            client.shutDown()
            server.shutDown()
        }
        Thread.detachNewThread { [weak self] in
            while let bytes = client.receive() {
                if self?.state.withLock(\.isSilent) == true { continue }
                if let cut = self?.cut(at: bytes) {
                    losesAnswer.set()
                    guard cut.isForwarded else { break }
                }
                // The other thread ends both when the answer arrives.
                guard server.send(bytes) else { break }
            }
            client.shutDown()
            server.shutDown()
        }
    }

    private func cut(at bytes: Data) -> (text: Data, isForwarded: Bool)? {
        state.withLock { state in
            guard let cut = state.cut, bytes.range(of: cut.text) != nil else { return nil }
            state.cut = nil
            return cut
        }
    }

    private final class CutMark: Sendable {
        private let mark = Mutex(false)

        var isSet: Bool { mark.withLock(\.self) }

        func set() { mark.withLock { $0 = true } }
    }
}
