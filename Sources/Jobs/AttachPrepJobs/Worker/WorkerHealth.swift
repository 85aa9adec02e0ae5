import AttachPrepModel
import Logging
import MediaTypes
import SafeArithmetic
import Synchronization

public enum WorkerHealth: Sendable, Hashable {
    /// Not started yet.
    case starting
    case ok
    /// The store or another dependency is away; a sentence for the operator.
    case unavailable(String)
    /// Shutting down; claims no more jobs.
    case draining

    /// Why the worker does not claim jobs; nil when it does.
    public var reason: String? {
        switch self {
        case .starting: "The worker has not started yet."
        case .ok: nil
        case .unavailable(let reason): reason
        case .draining: "The worker is shutting down."
        }
    }
}

/// Tracks whether the store is available, from the results of the worker's calls; logs each change once.
final class StoreAvailability: Sendable {
    private let state = Mutex(WorkerHealth.starting)
    private let logger: Logger

    init(_ logger: Logger) {
        self.logger = logger
    }

    var health: WorkerHealth { state.withLock { $0 } }

    func answered() {
        let previous = become(.ok)
        if case .unavailable = previous { logger.notice("the job store is available again") }
    }

    func failed(_ error: any Error) {
        let sentence = (error as? AttachPrepError)?.message ?? "The job store is unavailable; see the log."
        let previous = become(.unavailable(sentence))
        if case .unavailable = previous { return }
        logger.error("the job store is unavailable", metadata: ["error": "\(error)"])
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
