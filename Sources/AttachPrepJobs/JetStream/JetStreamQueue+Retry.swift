import NATS
import RichPush
import SafeArithmetic

extension JetStreamQueue {
    /// Queued again in one step.
    private static let retriedCount = 200

    public func retry(_ filter: JobFilter) async throws -> Int {
        let selection = try JobSelection(filter, among: JobState.allCases.filter(\.isRetryable))
        return try await named {
            var count = 0
            for state in selection.states ?? [] {
                var cursor = ""
                // Onwards only: one that fails again meanwhile is not queued a second time.
                while let last = try await retry(selection, state, after: cursor, &count) { cursor = last }
            }
            return count
        }
    }

    /// - Returns: the name of the last one that was looked at; nil when there are no more, or there is no room.
    private func retry(
        _ selection: JobSelection, _ state: JobState, after cursor: String, _ count: inout Int
    ) async throws -> String? {
        let room = min(Self.retriedCount, limits.queuedJobsMax.subtracting(clamping: mirror.queuedCount))
        guard room > 0 else { return nil }
        let found = try await mirror.page(selection, state, after: cursor, count: room)
        count += try await retry(found)  // Bounded: counts of what is in memory.
        return found.last?.value.id
    }

    /// - Returns: how many of them were as they were known.
    private func retry(_ found: [KnownJob]) async throws -> Int {
        let now = clock.now()
        let next = found.compactMap { known -> (job: KeptJob, after: UInt64)? in
            if known.value.state == .cancelled, known.value.secret == JobSecrets.wiped { return nil }
            return known.value.retried(at: now.wall).map { ($0, known.revision) }
        }
        let kept = try await make(next).compactMap { try $0.get() }
        try await mirror.take(kept, at: now)
        try await publish(kept.map(\.value))
        return kept.count
    }
}
