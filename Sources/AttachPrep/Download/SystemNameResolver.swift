internal import Curl
internal import RichPush
internal import Synchronization

/// The system's resolver, on threads that are abandoned when they hang.
///
/// `getaddrinfo` cannot be stopped: a lookup whose task is cancelled returns at once, and its thread ends whenever the
/// system lets it. Threads are bounded; lookups beyond them wait their turn.
package final class SystemNameResolver: NameResolver {
    private struct State {
        var threads = 0
        var waiting: [Lookup] = []
    }

    private let threadsMax: Int
    private let look: @Sendable (String) -> Result<[IPAddress], NameResolutionError>
    private let state = Mutex(State())

    package convenience init() {
        self.init(threadsMax: Limits.resolverThreadsMax, look: AddressLookup.ask)
    }

    /// - Parameter look: blocks until it has the answer; `getaddrinfo`, unless a test replaces it.
    package init(
        threadsMax: Int, look: @escaping @Sendable (String) -> Result<[IPAddress], NameResolutionError>
    ) {
        self.threadsMax = threadsMax
        self.look = look
    }

    package func addresses(of host: String) async throws -> [IPAddress] {
        let lookup = Lookup(host)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                lookup.wait(continuation)
                enqueue(lookup)
                if Task.isCancelled { lookup.finish(.failure(CancellationError())) }
            }
        } onCancel: {
            lookup.finish(.failure(CancellationError()))
        }
    }

    private func enqueue(_ lookup: Lookup) {
        let needsThread = state.withLock { state in
            state.waiting.append(lookup)
            guard state.threads < threadsMax else { return false }
            state.threads += 1
            return true
        }
        guard needsThread, !DetachedThread.start({ [self] in work() }) else { return }
        state.withLock { $0.threads -= 1 }
        lookup.finish(.failure(NameResolutionError.temporary(detail: "no thread left")))
    }

    /// One thread's life: lookups until none waits.
    private func work() {
        while let lookup = next() {
            lookup.finish(look(lookup.host).mapError { $0 })
        }
    }

    private func next() -> Lookup? {
        state.withLock { state in
            state.waiting.removeAll(where: \.isFinished)
            guard !state.waiting.isEmpty else {
                state.threads -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}

/// One name asked for, answered once: by a thread, or by the cancellation of its task.
private final class Lookup: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<[IPAddress], any Error>)
        case finished
    }

    let host: String
    private let state = Mutex(State.new)

    init(_ host: String) {
        self.host = host
    }

    var isFinished: Bool {
        state.withLock { if case .finished = $0 { true } else { false } }
    }

    func wait(_ continuation: CheckedContinuation<[IPAddress], any Error>) {
        state.withLock { $0 = .waiting(continuation) }
    }

    func finish(_ result: Result<[IPAddress], any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<[IPAddress], any Error>? in
            // Not waiting yet: the task looks at its cancellation again once it is.
            guard case .waiting(let continuation) = state else { return nil }
            state = .finished
            return continuation
        }
        continuation?.resume(with: result)
    }
}
