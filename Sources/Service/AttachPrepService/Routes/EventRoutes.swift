import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import HTTPTypes
import Hummingbird
package import MediaTypes
import NIOCore
import SafeArithmetic
import Synchronization

/// `GET /v1/events`: changes of jobs and job counts, as server-sent events.
final class EventRoutes: Sendable {
    private let log: EventLog
    private let counts: CachedValue<JobCounts>
    private let heartbeatSeconds: Double
    private let listeners = Mutex(0)

    /// - Parameter counts: serves all listeners with one query. The counts are polled, since they also change without
    ///   an event (a job becomes due, another process works), and up to a thousand times a second in a busy queue.
    init(log: EventLog, counts: CachedValue<JobCounts>, heartbeatSeconds: Double) {
        (self.log, self.counts) = (log, counts)
        self.heartbeatSeconds = heartbeatSeconds
    }

    static let mediaType = "text/event-stream"

    var endpoints: [Endpoint] {
        [Endpoint(method: .get, path: "/v1/events", produces: Self.mediaType, respond: listen)]
    }

    @Sendable private func listen(_ request: Request, in context: ServiceContext) async throws -> Response {
        let headers: HTTPFields = [.contentType: Self.mediaType, .cacheControl: "no-store"]
        guard request.method != .head else { return Response(status: .ok, headers: headers) }
        let slot = try acquireSlot()
        // Subscribes before the head is sent, so that no change after it is missed.
        let beginning = log.listen(after: request.headers[.lastEventID])
        let lines = EventStream(beginning, counts: counts, heartbeatSeconds: heartbeatSeconds)
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                defer { slot.release() }
                try await writer.write(ByteBuffer(string: lines.first))
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
    private let changes: AsyncStream<EventLog.Event>
    /// What is sent first: the id from which a reconnect continues, and the missed changes.
    let first: String
    private let counts: CachedValue<JobCounts>
    private let heartbeatSeconds: Double

    init(_ beginning: EventLog.Beginning, counts: CachedValue<JobCounts>, heartbeatSeconds: Double) {
        changes = beginning.live
        let reset = beginning.isIncomplete ? "event: reset\ndata: {}\n\n" : ""
        first = ": listening\n\n\(beginning.missed.map(Self.line).joined())\(reset)id: \(beginning.id)\n\n"
        self.counts = counts
        self.heartbeatSeconds = heartbeatSeconds
    }

    /// The lines, until the feed finishes or the reader stops.
    func begin() -> AsyncStream<String> {
        // Merges all sources. The stream of a reader that is too slow ends at the first line that it would miss.
        let (lines, continuation) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingOldest(Limits.eventBacklogMax))
        let jobEvents = Task { [changes] in
            for await change in changes {
                if case .dropped = continuation.yield(Self.line(change)) { break }
            }
            continuation.finish()
        }
        let countEvents = Task { [counts] in
            var sent: JobCounts?
            while !Task.isCancelled {
                // Errors are reported by the other routes; here there is nothing to publish.
                if let latest = try? await counts.value(), latest != sent, let line = Self.line(latest) {
                    continuation.yield(line)
                    sent = latest
                }
                try? await Task.sleep(for: .seconds(Limits.eventCountsSeconds))
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

    private static func line(_ event: EventLog.Event) -> String {
        let change = event.change
        return "id: \(event.id)\nevent: job\n"
            + "data: {\"id\":\"\(change.job)\",\"state\":\"\(change.state.rawValue)\"}\n\n"
    }

    private static func line(_ counts: JobCounts) -> String? {
        guard let data = try? JSONEncoder.singleLine.text(JobCountsResponse(counts, at: .now)) else { return nil }
        return "event: counts\ndata: \(data)\n\n"
    }
}

extension Limits {
    /// Unread events of a listener; its stream ends at the next one.
    package static let eventBacklogMax = 1_000
    /// Concurrent event listeners.
    package static let eventListenersMax = 100
    /// Interval of comments in an event stream: proxies close connections that are silent for 30 to 60 s.
    package static let eventHeartbeatSeconds = 15.0
    /// Interval between updates of the queue counts for listeners.
    static let eventCountsSeconds = 1.0
}
