import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
package import RichPush
import SafeArithmetic
import Synchronization

/// `GET /v1/events`: changes of jobs and job counts, as server-sent events.
final class EventRoutes: Sendable {
    private let feed: JobFeed
    private let numbers: JobCountsFeed
    private let heartbeatSeconds: Double
    private let listeners = Mutex(0)

    init(feed: JobFeed, numbers: JobCountsFeed, heartbeatSeconds: Double) {
        (self.feed, self.numbers) = (feed, numbers)
        self.heartbeatSeconds = heartbeatSeconds
    }

    static let mediaType = "text/event-stream"

    var endpoints: [Endpoint] {
        [Endpoint(method: .get, path: "/v1/events", produces: Self.mediaType, respond: listen)]
    }

    @Sendable private func listen(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let headers: HTTPFields = [.contentType: Self.mediaType, .cacheControl: "no-store"]
        guard request.method != .head else { return Response(status: .ok, headers: headers) }
        let slot = try acquireSlot()
        // Subscribes before the head is sent, so that no change after it is missed.
        let lines = EventStream(feed, numbers: numbers, heartbeatSeconds: heartbeatSeconds)
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                defer { slot.release() }
                try await writer.write(ByteBuffer(string: ": listening\n\n"))
                for await line in lines.begin() { try await writer.write(ByteBuffer(string: line)) }
                try await writer.finish(nil)
            })
    }

    private func acquireSlot() throws -> ListenerSlot {
        let isFree = listeners.withLock { count in
            guard count < Limits.eventListenersMax else { return false }
            count += 1
            return true
        }
        guard isFree else {
            throw Problem(
                .eventsFull, "All \(Limits.eventListenersMax) event streams are in use; poll /v1/jobs instead."
            ).retrying(after: 30)
        }
        return ListenerSlot { [weak self] in self?.listeners.withLock { $0 -= 1 } }
    }
}

/// The slot of one event stream; released explicitly, or on deinit if the response was never written.
final class ListenerSlot: Sendable {
    private let onRelease: Mutex<(@Sendable () -> Void)?>

    init(_ onRelease: @escaping @Sendable () -> Void) {
        self.onRelease = Mutex(onRelease)
    }

    deinit {
        release()
    }

    func release() {
        onRelease.withLock { onRelease in
            defer { onRelease = nil }
            return onRelease
        }?()
    }
}

/// Changes of jobs and job counts as lines of a server-sent event stream, with comments as heartbeats.
struct EventStream: Sendable {
    private let changes: AsyncStream<JobFeed.Change>
    private let numbers: JobCountsFeed
    private let heartbeatSeconds: Double

    init(_ feed: JobFeed, numbers: JobCountsFeed, heartbeatSeconds: Double) {
        changes = feed.changes(backlog: Limits.eventBacklogMax)
        self.numbers = numbers
        self.heartbeatSeconds = heartbeatSeconds
    }

    /// The lines, until the feed finishes or the reader stops.
    func begin() -> AsyncStream<String> {
        // Merges all sources; if the reader is too slow, the oldest lines are dropped.
        let (lines, continuation) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingNewest(Limits.eventBacklogMax))
        let jobEvents = Task { [changes] in
            for await change in changes { continuation.yield(Self.line(change)) }
            continuation.finish()
        }
        let countEvents = Task { [numbers] in
            for await counts in numbers.numbers() {
                if let line = Self.line(counts) { continuation.yield(line) }
            }
        }
        let heartbeats = Task { [heartbeatSeconds] in
            while (try? await Task.sleep(for: .seconds(clamping: heartbeatSeconds))) != nil {
                continuation.yield(": still here\n\n")
            }
        }
        continuation.onTermination = { _ in
            for task in [jobEvents, countEvents, heartbeats] { task.cancel() }
        }
        return lines
    }

    private static func line(_ change: JobFeed.Change) -> String {
        "event: job\ndata: {\"id\":\"\(change.job)\",\"state\":\"\(change.state.rawValue)\"}\n\n"
    }

    private static func line(_ counts: JobCounts) -> String? {
        guard let data = try? JSONResponse.encoder().encode(JobCountsResponse(counts, at: .now)) else { return nil }
        return "event: counts\ndata: \(String(decoding: data, as: UTF8.self))\n\n"
    }
}

/// The job counts for event streams: the current ones, then each change.
///
/// One query serves all listeners; without listeners there is none. The counts are polled, since they also change
/// without an event (a job becomes due, another process works), and up to a thousand times a second in a busy queue.
final class JobCountsFeed: Sendable {
    private struct State {
        var last = 0
        var listeners: [Int: AsyncStream<JobCounts>.Continuation] = [:]
        var latest: JobCounts?
        var polling: Task<Void, Never>?
    }

    private let seconds: Double
    private let fetch: @Sendable () async throws -> JobCounts
    private let state = Mutex(State())

    /// - Parameter seconds: the polling interval.
    init(every seconds: Double, _ fetch: @escaping @Sendable () async throws -> JobCounts) {
        (self.seconds, self.fetch) = (seconds, fetch)
    }

    deinit {
        state.withLock(\.polling)?.cancel()
    }

    /// The counts, now and at each change; only the latest is buffered.
    func numbers() -> AsyncStream<JobCounts> {
        let (stream, continuation) = AsyncStream.makeStream(of: JobCounts.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = continuation
            if let latest = state.latest { continuation.yield(latest) }
            if state.polling == nil { state.polling = begin() }
            return state.last
        }
        continuation.onTermination = { [weak self] _ in self?.removeListener(number) }
        return stream
    }

    private func removeListener(_ number: Int) {
        state.withLock { state in
            state.listeners[number] = nil
            guard state.listeners.isEmpty else { return }
            state.polling?.cancel()
            (state.polling, state.latest) = (nil, nil)
        }
    }

    private func begin() -> Task<Void, Never> {
        Task { [weak self, fetch, seconds] in
            while !Task.isCancelled {
                // Errors are reported by the other routes; here there is nothing to publish.
                if let counts = try? await fetch() { self?.publish(counts) }
                try? await Task.sleep(for: .seconds(clamping: seconds))
            }
        }
    }

    private func publish(_ counts: JobCounts) {
        // Cancelled when the last listener left; a new listener has started its own polling task.
        guard !Task.isCancelled else { return }
        let listeners = state.withLock { state in
            if let latest = state.latest, latest.byState == counts.byState, latest.due == counts.due,
                latest.oldestDue == counts.oldestDue
            {
                return [AsyncStream<JobCounts>.Continuation]()
            }
            state.latest = counts
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(counts) }
    }
}

extension Limits {
    /// Unread events of a listener; the oldest are dropped.
    package static let eventBacklogMax = 1_000
    /// Concurrent event listeners.
    package static let eventListenersMax = 100
    /// Interval of comments in an event stream: proxies close connections that are silent for 30 to 60 s.
    package static let eventHeartbeatSeconds = 15.0
    /// Interval between updates of the queue counts for listeners.
    static let eventCountsSeconds = 1.0
}
