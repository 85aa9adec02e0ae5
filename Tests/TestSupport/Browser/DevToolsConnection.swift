import Dispatch
import Foundation
import Synchronization

/// A DevTools protocol connection: calls and their results, and events for the page that they are about.
final class DevToolsConnection: Sendable {
    private struct State {
        var lastID = 0
        var waiting: [Int: CheckedContinuation<PageValue, any Error>] = [:]
        /// By the session of a page, and of each of its frames and workers.
        var eventLogs: [String: PageEventLog] = [:]
        var hasEnded = false
    }

    private struct Call: Encodable {
        let id: Int
        let method: String
        let params: [String: PageValue]
        let sessionId: String?
    }

    private struct Message: Decodable {
        let id: Int?
        let method: String?
        let params: PageValue?
        let result: PageValue?
        let error: PageValue?
        let sessionId: String?
    }

    private let socket: DevToolsSocket
    private let state = Mutex(State())

    init(_ socket: DevToolsSocket) {
        self.socket = socket
        Thread.detachNewThread { [self] in
            socket.readMessages { receive($0) }
            end()
        }
    }

    /// Calls a method and waits for its result.
    ///
    /// - Parameters:
    ///   - session: a page's session; nil calls the browser itself.
    ///   - seconds: more than any page needs; a script that never ends must not block all tests.
    @discardableResult
    func call(
        _ method: String, _ parameters: [String: PageValue] = [:], session: String? = nil, seconds: Double = 60
    ) async throws -> PageValue {
        try await withCheckedThrowingContinuation { continuation in
            let id: Int? = state.withLock { state in
                guard !state.hasEnded else { return nil }
                state.lastID += 1
                state.waiting[state.lastID] = continuation
                return state.lastID
            }
            guard let id else {
                return continuation.resume(throwing: BrowserError(description: "\(method): Chromium has ended"))
            }
            send(Call(id: id, method: method, params: parameters, sessionId: session))
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
                let error = BrowserError(description: "\(method) had no result within \(seconds) s")
                self?.complete(id, .failure(error))
            }
        }
    }

    /// Records the events of a session in a page's event log from now on.
    func record(_ session: String, in eventLog: PageEventLog) {
        state.withLock { $0.eventLogs[session] = eventLog }
    }

    func shutDown() {
        socket.shutDown()
    }

    private func receive(_ data: Data) {
        guard let message = try? JSONDecoder().decode(Message.self, from: data) else { return }
        if let id = message.id {
            let error = message.error.map {
                BrowserError(description: $0["message"].text ?? "Chromium returned an error")
            }
            return complete(id, error.map(Result.failure) ?? .success(message.result ?? .null))
        }
        guard let event = message.method, let session = message.sessionId,
            let eventLog = state.withLock({ $0.eventLogs[session] })
        else { return }
        let content = message.params ?? .null
        eventLog.record(event: event, content)
        if event == "Target.attachedToTarget", let child = content["sessionId"].text { attach(child, eventLog) }
        // The page is blocked until the dialog is closed.
        if event == "Page.javascriptDialogOpening" {
            notify("Page.handleJavaScriptDialog", ["accept": true], session: session)
        }
    }

    /// Starts a frame or worker, which is paused until its events are enabled.
    private func attach(_ session: String, _ eventLog: PageEventLog) {
        record(session, in: eventLog)
        for (method, parameters) in Self.eventDomains { notify(method, parameters, session: session) }
        notify("Runtime.runIfWaitingForDebugger", session: session)
    }

    /// The calls that make a session send the events that an event log records.
    static let eventDomains: [(String, [String: PageValue])] = [
        ("Runtime.enable", [:]), ("Log.enable", [:]), ("Network.enable", [:]),
        ("Target.setAutoAttach", ["autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true]),
    ]

    /// Calls a method and ignores its result.
    private func notify(_ method: String, _ parameters: [String: PageValue] = [:], session: String) {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        send(Call(id: id, method: method, params: parameters, sessionId: session))
    }

    private func send(_ call: Call) {
        do {
            socket.send(try JSONEncoder().encode(call))
        } catch {
            complete(call.id, .failure(error))
        }
    }

    private func complete(_ id: Int, _ result: Result<PageValue, any Error>) {
        state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(with: result)
    }

    private func end() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(throwing: BrowserError(description: "Chromium has ended")) }
    }
}
