import AttachPrep
import AttachPrepModel
package import FoundationEssentials
import MediaTypes
import SafeArithmetic

/// How many of some jobs have ended.
public struct JobProgress: Codable, Sendable, Hashable {
    /// Number of the jobs that exist.
    public var jobs: Int
    /// Number of jobs by state; every state is a key.
    public var states: [String: Int]
    /// Whether all of them have ended.
    public var done: Bool

    package init(_ counts: [JobState: Int]) {
        states = Dictionary(uniqueKeysWithValues: JobState.allCases.map { ($0.rawValue, counts[$0] ?? 0) })
        jobs = states.values.reduce(0) { $0.adding(clamping: $1) }
        done = JobState.allCases.allSatisfy { $0.isFinished || counts[$0] ?? 0 == 0 }
    }
}

extension JobCatalog {
    /// Counts the jobs of a selection by state.
    package func countsByState(_ filter: JobFilter) async throws -> [JobState: Int] {
        var counts: [JobState: Int] = [:]
        for state in JobState.allCases {
            var filter = filter
            filter.states = [state]
            counts[state] = try await count(filter)
        }
        return counts
    }
}

/// The progress of a batch.
public struct JobBatch: Encodable, Sendable, Hashable {
    public var id: JobID
    public var progress: JobProgress

    package init(id: JobID, _ counts: [JobState: Int]) {
        self.id = id
        progress = JobProgress(counts)
    }

    private enum CodingKeys: String, CodingKey {
        case id
    }

    /// Encodes the id beside the members of the progress.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try progress.encode(to: encoder)
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
