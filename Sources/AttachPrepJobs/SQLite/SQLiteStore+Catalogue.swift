#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension SQLiteStore: JobCatalogue {
    public func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage {
        let query = try CatalogueQuery(filter, after: cursor, limit: limit)
        return try query.page(await read(query.records))
    }

    public func counts() async throws -> JobCounts {
        let now = clock.wall().milliseconds
        return try await read { try CatalogueQuery.counts($0, at: now) }
    }

    public func pace(until end: Date) async throws -> JobPace {
        try await read { try PaceQuery.pace($0, until: end) }
    }
}
