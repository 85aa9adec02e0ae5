import Synchronization

/// Broadcasts job state changes within this process: to event streams, waiting callers and the worker.
///
/// Publishing never blocks: a listener that does not keep up loses its oldest events.
public final class JobFeed: Sendable {
    public struct Change: Sendable, Hashable {
        public var job: JobID
        public var state: JobState

        public init(job: JobID, state: JobState) {
            self.job = job
            self.state = state
        }
    }

    private struct State {
        var last = 0
        var listeners: [Int: AsyncStream<Change>.Continuation] = [:]
        var gapListeners: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    public init() {}

    /// Sends changes to all listeners; called by the store after the changes are committed.
    public func publish(_ changes: [Change]) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners {
            for change in changes { listener.yield(change) }
        }
    }

    /// Returns a stream of changes from now on that buffers at most `backlog` of them; it ends with the feed.
    public func changes(backlog: Int) -> AsyncStream<Change> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Change.self, bufferingPolicy: .bufferingNewest(backlog))
        let number = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = continuation
            return state.last
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Reports that changes of other processes may be missing; called by a store that was not told of them for a while.
    public func reportGap() {
        for listener in state.withLock(\.gapListeners) { listener.yield() }
    }

    /// Returns a stream with an element after each gap; it ends with the feed.
    public func gaps() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.gapListeners.append(continuation) }
        return stream
    }

    /// Ends all streams.
    public func finish() {
        let ended = state.withLock { state in
            defer { (state.listeners, state.gapListeners) = ([:], []) }
            return state
        }
        for listener in ended.listeners.values { listener.finish() }
        for listener in ended.gapListeners { listener.finish() }
    }
}
