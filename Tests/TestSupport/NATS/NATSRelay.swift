import Foundation
import Synchronization

/// A relay to a real NATS server that changes the version in its INFO and forwards everything else, except that it can
/// lose one answer.
///
/// ```swift
/// let relay = try NATSRelay(to: server, version: "2.9.10")
/// let connection = try await NATSConnection.connect(NATSSettings(servers: [relay.url]))
/// ```
public final class NATSRelay: Sendable {
    public let port: Int
    private let listener: LoopbackSocket
    private let server: NATSServer
    private let state: Mutex<State>

    private struct State {
        var version: String
        var open: [LoopbackSocket] = []
        var connectionCount = 0
        var request: Data?
        var losesAnswer = false
    }

    public init(to server: NATSServer, version: String) throws {
        listener = try LoopbackSocket.listen(address: "127.0.0.1", port: 0)
        port = try listener.localPort()
        self.server = server
        state = Mutex(State(version: version))
        Thread.detachNewThread { [weak self, listener] in
            while let client = listener.accept() { self?.serve(client) }
        }
    }

    deinit {
        listener.shutDown()
        cut()
    }

    /// Connections so far.
    public var connectionCount: Int { state.withLock(\.connectionCount) }

    public var url: String { "nats://127.0.0.1:\(port)" }

    /// Ends all connections; later ones see a server of that version.
    public func changeVersion(to version: String) {
        state.withLock { $0.version = version }
        cut()
    }

    /// Does not forward the stream's acknowledgment of the next message with this text.
    public func loseAnswer(to text: String) {
        state.withLock { $0.request = Data(text.utf8) }
    }

    private func noteRequest(_ bytes: Data) {
        state.withLock { state in
            guard let request = state.request, bytes.range(of: request) != nil else { return }
            (state.request, state.losesAnswer) = (nil, true)
        }
    }

    private func isLost(_ answer: Data) -> Bool {
        state.withLock { state in
            guard state.losesAnswer, answer.range(of: Data(#""seq":"#.utf8)) != nil else { return false }
            state.losesAnswer = false
            return true
        }
    }

    private func cut() {
        let open = state.withLock { state in
            defer { state.open = [] }
            return state.open
        }
        for socket in open { socket.shutDown() }
    }

    private func serve(_ client: LoopbackSocket) {
        guard let server = try? LoopbackSocket.connected(to: self.server.port) else { return client.shutDown() }
        let version = state.withLock { state in
            state.open += [client, server]
            state.connectionCount += 1
            return state.version
        }
        Thread.detachNewThread { [weak self] in
            Self.forward(from: server, to: client) { answer in
                self?.isLost(answer) == true ? Data() : Self.replacingVersion(in: answer, with: version)
            }
        }
        Thread.detachNewThread { [weak self] in
            Self.forward(from: client, to: server) { request in
                self?.noteRequest(request)
                return request
            }
        }
    }

    private static func forward(
        from one: LoopbackSocket, to other: LoopbackSocket, _ change: (Data) -> Data
    ) {
        while let bytes = one.receive() {
            let changed = change(bytes)
            guard changed.isEmpty || other.send(changed) else { break }
        }
        one.shutDown()
        other.shutDown()
    }

    /// Servers send INFO first, and again after CONNECT; no other message contains such a line.
    private static func replacingVersion(in bytes: Data, with version: String) -> Data {
        guard let start = bytes.range(of: Data("INFO {".utf8))?.lowerBound,
            let name = bytes.range(of: Data(#""version":""#.utf8), in: start..<bytes.endIndex),
            let end = bytes[name.upperBound...].firstIndex(of: UInt8(ascii: "\""))
        else { return bytes }
        return bytes[..<name.upperBound] + Data(version.utf8) + bytes[end...]
    }
}
