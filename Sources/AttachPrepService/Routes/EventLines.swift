import AttachPrepJobs
import RichPush

/// Changes of jobs as lines of a stream of events, with comments when there are none.
struct EventLines: Sendable {
    private let changes: AsyncStream<JobFeed.Change>
    private let heartbeatSeconds: Double

    init(_ feed: JobFeed, heartbeatSeconds: Double) {
        changes = feed.changes(backlog: Limits.eventBacklogMax)
        self.heartbeatSeconds = heartbeatSeconds
    }

    /// The lines, until the feed ends or nobody reads them any more.
    func begin() -> AsyncStream<String> {
        // Both sources meet here; what the listener does not read in time is lost, the oldest first.
        let (lines, continuation) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingNewest(Limits.eventBacklogMax))
        let telling = Task { [changes] in
            for await change in changes { continuation.yield(Self.line(change)) }
            continuation.finish()
        }
        let beating = Task { [heartbeatSeconds] in
            while (try? await Task.sleep(for: .seconds(heartbeatSeconds))) != nil {
                continuation.yield(": still here\n\n")
            }
        }
        continuation.onTermination = { _ in
            telling.cancel()
            beating.cancel()
        }
        return lines
    }

    private static func line(_ change: JobFeed.Change) -> String {
        "event: job\ndata: {\"id\":\"\(change.job)\",\"state\":\"\(change.state.rawValue)\"}\n\n"
    }
}
