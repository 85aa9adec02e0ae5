import GRDB

/// Files in the data folder that no row of the database knows.
///
/// A crash leaves a few: a file is placed before its row is committed. A database that was emptied, replaced or
/// restored from a backup leaves all of them, and their URLs may have been sent already. So an unknown file is noted
/// first and removed only after `StoreLimits.unknownFileSeconds`; until then it is served again as soon as its rows are
/// back.
enum UnknownFiles {
    /// Since version 4. `name`: the SHA-256 of content, or the name of an upload.
    static let schema = """
        CREATE TABLE unknown_file (name TEXT PRIMARY KEY, found_at INTEGER NOT NULL) WITHOUT ROWID;
        """

    /// Notes those that are new.
    ///
    /// - Returns: those that were noted at `oldest` or before: nothing has known them since.
    static func due(_ names: [String], until oldest: Int64, _ database: Database, at now: Int64) throws -> [String] {
        let list = try StoredJSON.text(names)
        try database.run(
            "INSERT OR IGNORE INTO unknown_file (name, found_at) SELECT value, ? FROM json_each(?)", [now, list])
        return try database.rows(
            """
            SELECT name FROM unknown_file WHERE found_at <= ? AND name IN (SELECT value FROM json_each(?))
            """, [oldest, list]
        ).map { $0[0] }
    }

    /// After a walk over all files: those that are known again, and those that are gone.
    static func forget(until oldest: Int64, _ database: Database) throws {
        try database.run(
            """
            DELETE FROM unknown_file WHERE found_at <= ?
                OR name IN (SELECT sha256 FROM content) OR name IN (SELECT id FROM upload)
            """, [oldest])
    }
}
