import AttachPrepJobs
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Changes of jobs and of their numbers as lines of a stream of events, with comments when there are none.
struct EventLines: Sendable {
    private let changes: AsyncStream<JobFeed.Change>
    private let numbers: NumbersFeed
    private let heartbeatSeconds: Double

    init(_ feed: JobFeed, numbers: NumbersFeed, heartbeatSeconds: Double) {
        changes = feed.changes(backlog: Limits.eventBacklogMax)
        self.numbers = numbers
        self.heartbeatSeconds = heartbeatSeconds
    }

    /// The lines, until the feed ends or nobody reads them any more.
    func begin() -> AsyncStream<String> {
        // All sources meet here; what the listener does not read in time is lost, the oldest first.
        let (lines, continuation) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingNewest(Limits.eventBacklogMax))
        let telling = Task { [changes] in
            for await change in changes { continuation.yield(Self.line(change)) }
            continuation.finish()
        }
        let counting = Task { [numbers] in
            for await counts in numbers.numbers() {
                if let line = Self.line(counts) { continuation.yield(line) }
            }
        }
        let beating = Task { [heartbeatSeconds] in
            while (try? await Task.sleep(for: .seconds(clamping: heartbeatSeconds))) != nil {
                continuation.yield(": still here\n\n")
            }
        }
        continuation.onTermination = { _ in
            for task in [telling, counting, beating] { task.cancel() }
        }
        return lines
    }

    private static func line(_ change: JobFeed.Change) -> String {
        "event: job\ndata: {\"id\":\"\(change.job)\",\"state\":\"\(change.state.rawValue)\"}\n\n"
    }

    private static func line(_ counts: JobCounts) -> String? {
        guard let data = try? JSONAnswer.encoder().encode(JobNumbers(counts, at: .now)) else { return nil }
        return "event: counts\ndata: \(String(decoding: data, as: UTF8.self))\n\n"
    }
}
