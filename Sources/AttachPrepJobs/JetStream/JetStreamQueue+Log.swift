import NATS
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Lines of a job's log: one value in a bucket of their own, which the worker that has the job adds to.
extension JetStreamQueue {
    /// A line as it is kept.
    private struct KeptLine: Codable {
        var date: Int64
        var level: String
        var text: String
    }

    public func log(of id: JobID) async throws -> [JobLogLine] {
        try await named {
            let lines = try await lines(of: id)?.lines ?? []
            return lines.map {
                JobLogLine(job: id, date: Date(milliseconds: $0.date), level: $0.level, text: $0.text)
            }
        }
    }

    private func lines(of id: JobID) async throws -> (lines: [KeptLine], revision: UInt64)? {
        guard let entry = try await logs.entry(QueueKeys.job(id.text)) else { return nil }
        let lines = try entry.value.map { try JSONDecoder().decode([KeptLine].self, from: Data($0)) }
        return (lines ?? [], entry.revision)
    }

    public func append(_ lines: [JobLogLine]) async throws {
        try await named {
            let byJob = Dictionary(grouping: lines, by: \.job)
            let look = try await mirror.look(byJob.keys.map(\.text))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (id, lines) in byJob where look.jobs[id.text] != nil {
                    group.addTask { try await self.append(lines, to: id) }
                }
                try await group.waitForAll()
            }
        }
    }

    private func append(_ lines: [JobLogLine], to id: JobID) async throws {
        let new = lines.map { line in
            KeptLine(
                date: line.date.milliseconds, level: line.level,
                text: String(line.text.prefix(Limits.jobLogCharactersMax)))
        }
        while true {
            let earlier = try await self.lines(of: id)
            // Bounded: lists, not numbers.
            let kept = Array(((earlier?.lines ?? []) + new).suffix(Limits.jobLogLinesMax))
            let change = KeyValueBucket.Change(
                QueueKeys.job(id.text), Array(try JSONEncoder().encode(kept)), after: earlier?.revision ?? 0)
            if try await logs.make(change) != nil { return }
        }
    }
}
