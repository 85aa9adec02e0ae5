import AttachPrepJobs
package import MediaTypes
import Synchronization

/// The latest changes of jobs with numbers, so that a listener that reconnects gets those that it has missed.
final class EventLog: Sendable {
    /// A change with its id: the name of this log and a number.
    struct Event: Sendable, Hashable {
        let id: String
        let change: JobFeed.Change
    }

    /// What a listener gets first.
    struct Beginning: Sendable {
        /// The id of the last change before the listener's first one.
        let id: String
        let missed: [Event]
        /// Whether changes may be missing: the log is that of another process, or has dropped them.
        let isIncomplete: Bool
        let live: AsyncStream<Event>
    }

    private struct State {
        /// The number of the last change.
        var last = 0
        var kept: [Event] = []
        var listeners: [Int: AsyncStream<Event>.Continuation] = [:]
        var listenerCount = 0
    }

    /// Distinguishes the log from those of other processes: ids of another one mean nothing here.
    private let name = String(UInt32.random(in: .min ... .max), radix: 16)
    private let state = Mutex(State())

    func record(_ change: JobFeed.Change) {
        state.withLock { state in
            state.last += 1
            let event = Event(id: "\(name)-\(state.last)", change: change)
            state.kept.append(event)
            // Trims rarely, because removing the first elements moves all others.
            if state.kept.count >= Limits.eventsKeptMax * 2 {
                state.kept.removeFirst(state.kept.count - Limits.eventsKeptMax)
            }
            for (number, listener) in state.listeners {
                guard case .dropped = listener.yield(event) else { continue }
                // Ended at the first gap: the listener reconnects, and gets the rest from the log.
                listener.finish()
                state.listeners[number] = nil
            }
        }
    }

    /// - Parameter id: the last id that the listener has received (`Last-Event-ID`); nil for a new listener.
    func listen(after id: String?) -> Beginning {
        let (live, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingOldest(Limits.eventBacklogMax))
        return state.withLock { state in
            state.listenerCount += 1
            let number = state.listenerCount
            state.listeners[number] = continuation
            continuation.onTermination = { [weak self] _ in
                // Not within the lock of `record`, which ends listeners.
                Task { [weak self] in self?.state.withLock { $0.listeners[number] = nil } }
            }
            let found: [Event]? = id.map { missed(after: $0, state) } ?? []
            return Beginning(
                id: "\(name)-\(state.last)", missed: found ?? [], isIncomplete: found == nil, live: live)
        }
    }

    /// The changes after an id; nil when some of them are not kept.
    private func missed(after id: String, _ state: State) -> [Event]? {
        let prefix = "\(name)-"
        guard id.utf8.starts(with: prefix.utf8), let number = Int(id.dropFirst(prefix.utf8.count)),
            (0...state.last).contains(number)
        else { return nil }
        // Bounded: both are counts of changes.
        let count = state.last - number
        return count <= state.kept.count ? Array(state.kept.suffix(count)) : nil
    }

    /// Ends all streams.
    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}

extension Limits {
    /// Changes that are kept for listeners that reconnect: some seconds of a busy queue, 2 MB.
    package static let eventsKeptMax = 10_000
}
