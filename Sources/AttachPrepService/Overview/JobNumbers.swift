import AttachPrepJobs
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How many jobs there are, and how many of them wait for a worker.
struct JobNumbers: Encodable {
    private let counts: JobCounts
    private let now: Date

    init(_ counts: JobCounts, at now: Date) {
        (self.counts, self.now) = (counts, now)
    }

    private enum CodingKeys: String, CodingKey {
        case jobs, due, oldestDueSeconds
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let states = JobState.allCases.map { ($0.rawValue, counts.byState[$0] ?? 0) }
        try values.encode(Dictionary(uniqueKeysWithValues: states), forKey: .jobs)
        try values.encode(counts.due, forKey: .due)
        let age = counts.oldestDue.map { max(0, now.timeIntervalSince($0)).wholeMilliseconds }
        try values.encode(age, forKey: .oldestDueSeconds)
    }

    /// The errors that jobs ended with, the most frequent first.
    var errors: [ErrorNumber] {
        counts.byError.map { ErrorNumber(code: $0, jobs: $1) }
            .sorted { ($1.jobs, $0.code.rawValue) < ($0.jobs, $1.code.rawValue) }
    }
}

extension Double {
    /// Seconds of which nobody wants to see more digits than milliseconds have.
    // Bounded: floating point, which does not trap.
    var wholeMilliseconds: Double { (self * 1000).rounded() / 1000 }
}
