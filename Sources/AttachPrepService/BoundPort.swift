import Synchronization

/// The port of a service, for whoever waits until it listens.
public final class BoundPort: Sendable {
    private enum State {
        case waiting([CheckedContinuation<Int?, Never>])
        case listening(Int)
        case over
    }

    private let state = Mutex(State.waiting([]))

    init() {}

    /// Waits until the service listens; nil when it ended before it did, or has ended.
    public var value: Int? {
        get async {
            await withCheckedContinuation { continuation in
                let known: Int?? = state.withLock { state in
                    switch state {
                    case .waiting(let others):
                        state = .waiting(others + [continuation])
                        return .none
                    case .listening(let port): return .some(port)
                    case .over: return .some(nil)
                    }
                }
                if let known { continuation.resume(returning: known) }
            }
        }
    }

    func listens(on port: Int) {
        change(to: .listening(port), told: port)
    }

    func end() {
        change(to: .over, told: nil)
    }

    private func change(to next: State, told port: Int?) {
        let waiting = state.withLock { state in
            defer { state = next }
            if case .waiting(let waiting) = state { return waiting }
            return []
        }
        for continuation in waiting { continuation.resume(returning: port) }
    }
}
