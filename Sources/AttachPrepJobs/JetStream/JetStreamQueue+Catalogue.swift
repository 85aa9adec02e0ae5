import NATS
import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension JetStreamQueue: JobCatalogue {
    public func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage {
        let query = try CatalogueQuery(filter, after: cursor, limit: limit)
        return try query.page(await mirror.read(query.records))
    }

    public func counts() async throws -> JobCounts {
        let now = clock.wall().milliseconds
        return try await mirror.read { try CatalogueQuery.counts($0, at: now) }
    }

    public func pace(until end: Date) async throws -> JobPace {
        try await mirror.read { try PaceQuery.pace($0, until: end) }
    }

    public func purge(_ filter: JobFilter) async throws -> Int {
        try await named {
            var count = 0
            while true {
                let found = try await mirror.finished(filter, count: Self.purgedCount)
                let purged = try await purge(found)
                count += purged  // Bounded: counts of what is in memory.
                // What could not be removed was changed meanwhile, and is seen anew with the next change of it.
                if purged == 0 { return count }
            }
        }
    }

    /// Removed in one step.
    private static let purgedCount = 500

    /// - Returns: how many of them were as they were known.
    func purge(_ found: [KnownJob]) async throws -> Int {
        let answers = await jobs.makeAll(
            found.map { KeyValueBucket.Change(QueueKeys.job($0.value.id), nil, after: $0.revision) })
        var purged: [KeyValueEntry] = []
        for (job, answer) in zip(found, answers) {
            guard let revision = try answer.get() else { continue }
            purged.append(KeyValueEntry(key: QueueKeys.job(job.value.id), value: nil, revision: revision))
        }
        try await mirror.take(purged, at: clock.now(), isNews: true)
        _ = await logs.makeAll(purged.map { KeyValueBucket.Change($0.key, nil) })
        return purged.count
    }
}
