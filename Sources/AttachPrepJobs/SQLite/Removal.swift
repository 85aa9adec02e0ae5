import GRDB

extension SQLiteStore {
    /// Removes results that no job has, with the files that only they had.
    func dropResults(_ media: [String]) async throws {}
}
