import AttachPrepJobs
package import MediaTypes
import Synchronization

/// The latest changes of jobs with ids, so that a listener that reconnects gets those that it has missed.
///
/// Every machine of a queue has a log of all changes, in an order that may differ a little. An id is the name of a log,
/// a number, and the change itself, which the log of another machine finds.
final class EventLog: Sendable {
    struct Event: Sendable, Hashable {
        let id: String
        let change: JobFeed.Change
        fileprivate let recordedAt: ContinuousClock.Instant
    }

    /// What a listener gets first.
    struct Beginning: Sendable {
        /// The id of the last change before the listener's first one.
        let id: String
        let missed: [Event]
        /// Whether changes may be missing: they were dropped, or this machine did not know of them.
        let isIncomplete: Bool
        let live: AsyncStream<Event>
    }

    private struct State {
        /// Distinguishes the log from those of other processes: numbers of another one mean nothing here.
        var name = String(UInt32.random(in: .min ... .max), radix: 16)
        /// The number of the last change.
        var last = 0
        var lastID: String
        var kept: [Event] = []
        /// Since when no change is missing in `kept`.
        var completeSince: ContinuousClock.Instant
        var listeners: [Int: AsyncStream<Event>.Continuation] = [:]
        var listenerCount = 0

        init(completeSince: ContinuousClock.Instant) {
            self.completeSince = completeSince
            lastID = "\(name)-0"
        }
    }

    private let state: Mutex<State>

    /// - Parameter completeSince: since when all changes are recorded.
    init(completeSince: ContinuousClock.Instant = .now) {
        state = Mutex(State(completeSince: completeSince))
    }

    func record(_ change: JobFeed.Change) {
        state.withLock { state in
            state.last += 1
            state.lastID = "\(state.name)-\(state.last)-\(change.job)-\(change.state.rawValue)"
            let event = Event(id: state.lastID, change: change, recordedAt: .now)
            state.kept.append(event)
            // Trims rarely, because removing the first elements moves all others.
            if state.kept.count >= Limits.eventsKeptMax * 2 {
                state.kept.removeFirst(state.kept.count - Limits.eventsKeptMax)
                state.completeSince = state.kept[0].recordedAt
            }
            for (number, listener) in state.listeners {
                guard case .dropped = listener.yield(event) else { continue }
                // Ended at the first gap: the listener reconnects, and gets the rest from the log.
                listener.finish()
                state.listeners[number] = nil
            }
        }
    }

    /// Starts an empty log, because changes of other machines may be missing: listeners reconnect, and load all again.
    func restart() {
        let listeners = state.withLock { state in
            let listeners = state.listeners
            let count = state.listenerCount
            state = State(completeSince: .now)
            state.listenerCount = count
            return listeners
        }
        for listener in listeners.values { listener.finish() }
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
            return Beginning(id: state.lastID, missed: found ?? [], isIncomplete: found == nil, live: live)
        }
    }

    /// The changes after an id; nil when some of them may be missing.
    private func missed(after id: String, _ state: State) -> [Event]? {
        let parts = id.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 2)
        guard parts.count >= 2 else { return nil }
        if parts[0].elementsEqual(state.name.utf8) {
            guard let number = Int(Substring(parts[1])), (0...state.last).contains(number) else { return nil }
            // Bounded: both are counts of changes.
            let count = state.last - number
            return count <= state.kept.count ? Array(state.kept.suffix(count)) : nil
        }
        // The change of another machine's log: the rest of the id is that of this log's events.
        guard parts.count == 3, let known = state.kept.first(where: { $0.change.isNamed(parts[2]) }) else {
            return nil
        }
        // What others learned of earlier may be before it here.
        let since = known.recordedAt - .seconds(Limits.eventOverlapSeconds)
        guard state.completeSince <= since else { return nil }
        return Array(state.kept.drop { $0.recordedAt < since })
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

extension JobFeed.Change {
    /// Whether it is the change that the last part of an id names.
    fileprivate func isNamed(_ text: Substring.UTF8View) -> Bool {
        let job = self.job.text.utf8
        return text.starts(with: job) && text.dropFirst(job.count + 1).elementsEqual(state.rawValue.utf8)
    }
}

extension Limits {
    /// Changes that are kept for listeners that reconnect: some seconds of a busy queue, 3 MB.
    package static let eventsKeptMax = 10_000
    /// How much later than another machine a machine may learn of a change: much longer than PostgreSQL's notifications
    /// take.
    static let eventOverlapSeconds = 5.0
}
