import Logging
import RichPush
import Synchronization

/// Whether the store answers, as the worker's calls find out; a change is logged once.
final class WorkerPulse: Sendable {
    private let state = Mutex(WorkerHealth.starting)
    private let logger: Logger

    init(_ logger: Logger) {
        self.logger = logger
    }

    var health: WorkerHealth { state.withLock { $0 } }

    func answered() {
        let former = become(.ok)
        if case .unavailable = former { logger.notice("the store answers again") }
    }

    func failed(_ error: any Error) {
        let sentence = (error as? AttachPrepError)?.message ?? "The store does not answer."
        let former = become(.unavailable(sentence))
        if case .unavailable = former { return }
        logger.error("the store does not answer", metadata: ["error": "\(error)"])
    }

    func leave() {
        state.withLock { $0 = .draining }
    }

    private func become(_ health: WorkerHealth) -> WorkerHealth {
        state.withLock { state in
            defer { if state != .draining { state = health } }
            return state
        }
    }
}
