import Dispatch
import Foundation
import Synchronization

/// The DevTools protocol: calls and their answers, and events for the page that they are about.
final class BrowserLink: Sendable {
    private struct State {
        var number = 0
        var waiting: [Int: CheckedContinuation<PageValue, any Error>] = [:]
        /// By the session of a page, and of each of its frames and workers.
        var diaries: [String: PageDiary] = [:]
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

    private let socket: BrowserSocket
    private let state = Mutex(State())

    init(_ socket: BrowserSocket) {
        self.socket = socket
        Thread.detachNewThread { [self] in
            socket.readMessages { take($0) }
            end()
        }
    }

    /// Calls a method and waits for its result.
    ///
    /// - Parameters:
    ///   - session: the page's; nil calls the browser itself.
    ///   - seconds: more than any page needs; a script that never ends must not hold up all tests.
    @discardableResult
    func call(
        _ method: String, _ parameters: [String: PageValue] = [:], session: String? = nil, seconds: Double = 60
    ) async throws -> PageValue {
        try await withCheckedThrowingContinuation { continuation in
            let number: Int? = state.withLock { state in
                guard !state.hasEnded else { return nil }
                state.number += 1
                state.waiting[state.number] = continuation
                return state.number
            }
            guard let number else {
                return continuation.resume(throwing: BrowserFailure(description: "\(method): Chromium has ended"))
            }
            send(Call(id: number, method: method, params: parameters, sessionId: session))
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
                let failure = BrowserFailure(description: "\(method) had no answer within \(seconds) s")
                self?.answer(number, .failure(failure))
            }
        }
    }

    /// Writes what happens in that session into a page's diary from now on.
    func follow(_ session: String, in diary: PageDiary) {
        state.withLock { $0.diaries[session] = diary }
    }

    func shutDown() {
        socket.shutDown()
    }

    private func take(_ data: Data) {
        guard let message = try? JSONDecoder().decode(Message.self, from: data) else { return }
        if let number = message.id {
            let failure = message.error.map { BrowserFailure(description: $0["message"].text ?? "Chromium refused") }
            return answer(number, failure.map(Result.failure) ?? .success(message.result ?? .null))
        }
        guard let event = message.method, let session = message.sessionId,
            let diary = state.withLock({ $0.diaries[session] })
        else { return }
        let content = message.params ?? .null
        diary.note(event: event, content)
        if event == "Target.attachedToTarget", let child = content["sessionId"].text { adopt(child, diary) }
        // Nobody else would close it, and the page stands still until then.
        if event == "Page.javascriptDialogOpening" {
            tell("Page.handleJavaScriptDialog", ["accept": true], session: session)
        }
    }

    /// A frame or worker of a page stands still until somebody listens to it.
    private func adopt(_ session: String, _ diary: PageDiary) {
        follow(session, in: diary)
        for (method, parameters) in Self.listening { tell(method, parameters, session: session) }
        tell("Runtime.runIfWaitingForDebugger", session: session)
    }

    /// What makes a session report all that a diary wants to know.
    static let listening: [(String, [String: PageValue])] = [
        ("Runtime.enable", [:]), ("Log.enable", [:]), ("Network.enable", [:]),
        ("Target.setAutoAttach", ["autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true]),
    ]

    /// Calls a method whose answer nobody needs.
    private func tell(_ method: String, _ parameters: [String: PageValue] = [:], session: String) {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        send(Call(id: number, method: method, params: parameters, sessionId: session))
    }

    private func send(_ call: Call) {
        do {
            socket.send(try JSONEncoder().encode(call))
        } catch {
            answer(call.id, .failure(error))
        }
    }

    private func answer(_ number: Int, _ result: Result<PageValue, any Error>) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(with: result)
    }

    private func end() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(throwing: BrowserFailure(description: "Chromium has ended")) }
    }
}
