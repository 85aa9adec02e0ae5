import Foundation
import Synchronization

/// What a loopback server's threads share.
final class LoopbackState: Sendable {
    private struct State {
        var handlers: [String: LoopbackServer.Handler] = [:]
        var greeting: LoopbackAnswer?
        var requests: [LoopbackRequest] = []
        var open: [Int: LoopbackSocket] = [:]
        var connectionCount = 0
        var bytesSent = 0
        var isStopped = false
        var watchers: [Watcher] = []
    }

    /// A request that was not counted yet.
    struct Question: Sendable {
        let method: String
        let target: String
        let headers: [String: String]
        let body: Data
        let connection: Int
    }

    private struct Watcher: Sendable {
        let id: UUID
        let isSo: @Sendable () -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private let listener: LoopbackSocket
    private let state = Mutex(State())

    init(_ listener: LoopbackSocket) {
        self.listener = listener
    }

    var requests: [LoopbackRequest] { state.withLock { $0.requests } }
    var connectionCount: Int { state.withLock { $0.connectionCount } }
    var openConnectionCount: Int { state.withLock { $0.open.count } }
    var bytesSent: Int { state.withLock { $0.bytesSent } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    var greeting: LoopbackAnswer? { state.withLock { $0.greeting } }

    func greet(_ answer: LoopbackAnswer) {
        state.withLock { $0.greeting = answer }
    }

    func forget() {
        state.withLock { state in
            state.handlers = [:]
            state.requests = []
        }
    }

    func count(bytesSent: Int) {
        state.withLock { $0.bytesSent += bytesSent }
    }

    func handle(_ path: String, _ handler: @escaping LoopbackServer.Handler) {
        state.withLock { $0.handlers[path] = handler }
    }

    func start() {
        Thread.detachNewThread { [self] in
            while let socket = listener.accept() { begin(socket) }
        }
    }

    func stop() {
        let open = state.withLock { state in
            state.isStopped = true
            return Array(state.open.values)
        }
        listener.shutDown()
        open.forEach { $0.shutDown() }
    }

    /// The answer to a request, which is recorded.
    func answer(_ question: Question) -> LoopbackAnswer {
        let path = String(question.target.prefix { $0 != "?" })
        let (request, handler) = state.withLock { state in
            let request = LoopbackRequest(
                method: question.method, target: question.target, headers: question.headers, body: question.body,
                number: state.requests.count { $0.path == path } + 1, connection: question.connection)
            state.requests.append(request)
            return (request, state.handlers[path])
        }
        tellWatchers()
        return handler?(request) ?? .status(404)
    }

    private func begin(_ socket: LoopbackSocket) {
        let number = state.withLock { state -> Int? in
            guard !state.isStopped else { return nil }
            state.connectionCount += 1
            state.open[state.connectionCount] = socket
            return state.connectionCount
        }
        guard let number else { return }
        tellWatchers()
        Thread.detachNewThread { [self] in
            LoopbackConnection(number: number, socket: socket, server: self).run()
            _ = state.withLock { $0.open.removeValue(forKey: number) }
            tellWatchers()
        }
    }

    func until(_ isSo: @escaping @Sendable () -> Bool) async {
        let id = UUID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock {
                    $0.watchers.append(Watcher(id: id, isSo: isSo, continuation: continuation))
                }
                tellWatchers()
                if Task.isCancelled { release { $0.id == id } }
            }
        } onCancel: {
            release { $0.id == id }
        }
    }

    /// Asked outside the lock: a watcher's question takes it itself.
    private func tellWatchers() {
        let happy = Set(state.withLock { $0.watchers }.filter { $0.isSo() }.map(\.id))
        release { happy.contains($0.id) }
    }

    private func release(_ isReleased: (Watcher) -> Bool) {
        let released = state.withLock { state in
            defer { state.watchers.removeAll(where: isReleased) }
            return state.watchers.filter(isReleased)
        }
        released.forEach { $0.continuation.resume() }
    }
}
