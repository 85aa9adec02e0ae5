import Foundation
import Synchronization

/// The state that a loopback server's threads share.
final class LoopbackState: Sendable {
    private struct State {
        var handlers: [String: LoopbackServer.Handler] = [:]
        var greeting: LoopbackResponse?
        var requests: [LoopbackRequest] = []
        var open: [Int: LoopbackSocket] = [:]
        var connectionCount = 0
        var bytesSent = 0
        var isStopped = false
        var waiters: [Waiter] = []
    }

    /// A request before it is counted.
    struct UnnumberedRequest: Sendable {
        let method: String
        let target: String
        let headers: [String: String]
        let body: Data
        let connection: Int
    }

    private struct Waiter: Sendable {
        let id: UUID
        let condition: @Sendable () -> Bool
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

    var greeting: LoopbackResponse? { state.withLock { $0.greeting } }

    func greet(_ answer: LoopbackResponse) {
        state.withLock { $0.greeting = answer }
    }

    func reset() {
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

    /// Records a request and returns the response to it.
    func response(to received: UnnumberedRequest) -> LoopbackResponse {
        let path = String(received.target.prefix { $0 != "?" })
        let (request, handler) = state.withLock { state in
            let request = LoopbackRequest(
                method: received.method, target: received.target, headers: received.headers, body: received.body,
                number: state.requests.count { $0.path == path } + 1, connection: received.connection)
            state.requests.append(request)
            return (request, state.handlers[path])
        }
        notifyWaiters()
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
        notifyWaiters()
        Thread.detachNewThread { [self] in
            LoopbackConnection(number: number, socket: socket, server: self).run()
            _ = state.withLock { $0.open.removeValue(forKey: number) }
            notifyWaiters()
        }
    }

    func until(_ condition: @escaping @Sendable () -> Bool) async {
        let id = UUID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock {
                    $0.waiters.append(Waiter(id: id, condition: condition, continuation: continuation))
                }
                notifyWaiters()
                if Task.isCancelled { release { $0.id == id } }
            }
        } onCancel: {
            release { $0.id == id }
        }
    }

    /// Evaluates conditions outside the lock, since they take it themselves.
    private func notifyWaiters() {
        let satisfied = Set(state.withLock { $0.waiters }.filter { $0.condition() }.map(\.id))
        release { satisfied.contains($0.id) }
    }

    private func release(_ isReleased: (Waiter) -> Bool) {
        let released = state.withLock { state in
            defer { state.waiters.removeAll(where: isReleased) }
            return state.waiters.filter(isReleased)
        }
        released.forEach { $0.continuation.resume() }
    }
}

/// An event that a test signals and a server waits for, or the reverse.
public final class LoopbackGate: @unchecked Sendable {
    // Sendable: `condition` guards `isOpen`.
    private let condition = NSCondition()
    private var isOpen = false
    private let opensWhen: (@Sendable () -> Bool)?

    /// - Parameter opensWhen: a polled condition that opens the gate as well.
    public init(when opensWhen: (@Sendable () -> Bool)? = nil) {
        self.opensWhen = opensWhen
    }

    public func open() {
        condition.withLock {
            isOpen = true
            condition.broadcast()
        }
    }

    /// Waits until the gate is open.
    public func waitUntilOpen() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                self.wait { false }
                continuation.resume()
            }
        }
    }

    /// Blocks until the gate is open or `isOver` returns true.
    func wait(unless isOver: () -> Bool) {
        condition.withLock {
            while !isOpen, !(opensWhen?() ?? false), !isOver() {
                _ = condition.wait(until: Date(timeIntervalSinceNow: 0.01))
            }
        }
    }
}
