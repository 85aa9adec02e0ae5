import GRDB
import TestSupport

@testable import SQLStore
@testable import SQLiteDatabase

extension SQLJobStore {
    private var pool: DatabasePool {
        guard let database = database as? SQLiteDatabase else { preconditionFailure("not a SQLite database") }
        return database.pool
    }

    /// Runs arbitrary SQL, for tests that simulate another program, another version or disk corruption.
    func alter(_ sql: String) async throws {
        try await pool.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    /// Limits the database to a number of pages, or to its current size, for tests that simulate a full disk.
    ///
    /// - Returns: the previous limit.
    func limitPages(to count: Int) async throws -> Int {
        try await pool.writeWithoutTransaction { database in
            let before = try Int.fetchOne(database, sql: "PRAGMA max_page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(count)")
            return before
        }
    }
}

extension TemporaryFolder {
    /// The database of the store in this folder, opened as another program would open it.
    ///
    /// Waits for locks: the last connection of a store that is released holds one while it closes.
    func openDatabase() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(SQLiteDatabase.busySeconds)
        return try DatabaseQueue(path: path("state/jobs.sqlite"), configuration: configuration)
    }
}
