import GRDB

extension SQLiteStore {
    /// Jobs removed in one step: other changes wait for some milliseconds at most.
    static let removalCountMax = 500

    public func purge(_ filter: JobFilter) async throws -> Int {
        let selection = try JobSelection(filter, among: JobState.allCases.filter(\.isFinished))
        var count = 0
        var media: Set<String> = []
        for state in selection.states ?? [] {
            while true {
                let removed = try await write { database, _ in try Self.remove(selection, state, database) }
                count += removed.count  // Bounded: counts of what is in memory.
                media.formUnion(removed.compactMap(\.self))
                if removed.count < Self.removalCountMax { break }
            }
        }
        _ = try await dropResults(media.sorted(), .purged)
        return count
    }

    /// - Returns: the media of the jobs that are gone.
    private static func remove(
        _ selection: JobSelection, _ state: JobState, _ database: Database
    ) throws -> [String?] {
        let rows = try StoredRow.fetchAll(
            database,
            sql: """
                DELETE FROM job WHERE id IN (SELECT id FROM job
                    WHERE state = '\(state.rawValue)' AND \(selection.condition) LIMIT \(removalCountMax))
                RETURNING media
                """, arguments: StatementArguments(selection.arguments))
        return rows.map { $0[0] }
    }
}
