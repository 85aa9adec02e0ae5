import AttachPrepJobs
import HTTPTypes
import Hummingbird
import NIOCore
import RichPush
import Synchronization

/// `GET /v1/events`: what happens to jobs and to their numbers, as it happens (server-sent events).
final class EventRoutes: Sendable {
    private let feed: JobFeed
    private let numbers: NumbersFeed
    private let heartbeatSeconds: Double
    private let listeners = Mutex(0)

    init(feed: JobFeed, numbers: NumbersFeed, heartbeatSeconds: Double) {
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
        let place = try takePlace()
        // From before the head on: what happens after the caller has it is told.
        let lines = EventLines(feed, numbers: numbers, heartbeatSeconds: heartbeatSeconds)
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                defer { place.leave() }
                try await writer.write(ByteBuffer(string: ": listening\n\n"))
                for await line in lines.begin() { try await writer.write(ByteBuffer(string: line)) }
                try await writer.finish(nil)
            })
    }

    private func takePlace() throws -> ListenerPlace {
        let isFree = listeners.withLock { count in
            guard count < Limits.eventListenersMax else { return false }
            count += 1
            return true
        }
        guard isFree else {
            throw Problem(
                .eventsFull, "There are already \(Limits.eventListenersMax) listeners to events; ask for jobs instead."
            ).retrying(after: 30)
        }
        return ListenerPlace { [weak self] in self?.listeners.withLock { $0 -= 1 } }
    }
}

/// One of the places for listeners; free again when it is left, or forgotten with an answer that was never written.
final class ListenerPlace: Sendable {
    private let onLeave: Mutex<(@Sendable () -> Void)?>

    init(_ onLeave: @escaping @Sendable () -> Void) {
        self.onLeave = Mutex(onLeave)
    }

    deinit {
        leave()
    }

    func leave() {
        onLeave.withLock { onLeave in
            defer { onLeave = nil }
            return onLeave
        }?()
    }
}
