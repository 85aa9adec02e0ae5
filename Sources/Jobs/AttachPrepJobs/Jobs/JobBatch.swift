import AttachPrep
import AttachPrepModel
package import FoundationEssentials
import RichPush
import SafeArithmetic

/// The progress of a batch.
public struct JobBatch: Codable, Sendable, Hashable {
    public var id: JobID
    /// Number of its jobs that exist.
    public var jobs: Int
    /// Number of jobs by state; every state is a key.
    public var states: [String: Int]
    /// Whether all of them have ended.
    public var done: Bool

    package init(id: JobID, _ counts: [JobState: Int]) {
        self.id = id
        states = Dictionary(uniqueKeysWithValues: JobState.allCases.map { ($0.rawValue, counts[$0] ?? 0) })
        jobs = states.values.reduce(0) { $0.adding(clamping: $1) }
        done = JobState.allCases.allSatisfy { $0.isFinished || counts[$0] ?? 0 == 0 }
    }
}

extension WebhookNotice {
    private struct BatchBody: Encodable {
        let type = Event.batchDone
        let timestamp: String
        let data: JobBatch
    }

    /// The webhook for the end of a batch.
    package init(for batch: JobBatch, to url: String, at date: Date) throws {
        self.init(
            url: url, event: .batchDone,
            body: try JSONEncoder.singleLine.text(BatchBody(timestamp: Timestamp.text(date), data: batch)))
    }
}
