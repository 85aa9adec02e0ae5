import AttachPrep
package import AttachPrepJobs
import FoundationEssentials
import GRDB
import Glibc
import RichPush
import SafeArithmetic

extension SQLiteStore {
    /// Removes the files of contents without a result, and then their rows, so that all files on disk stay counted.
    func removeContents(_ contents: [String]) async throws -> SweepReport {
        guard !contents.isEmpty else { return SweepReport() }
        let (files, pool) = (files, pool)
        let removed = try await files.run {
            // On the file thread, so that no file becomes needed meanwhile. Holds are checked before rows: a hold that
            // was released by then has committed its row, which the following query finds.
            let free = contents.filter { !files.isHeld($0) }
            let named = try pool.read { database in
                try database.rows(
                    "SELECT DISTINCT sha256 FROM result_file WHERE sha256 IN (SELECT value FROM json_each(?))",
                    [try StoredJSON.text(contents)]
                ).map { $0[0] as String }
            }
            return files.remove(Set(free).subtracting(named).sorted(), at: files.path)
        }
        let list = try StoredJSON.text(removed.map(\.name))
        try await write { database, _ in
            try database.run(
                """
                DELETE FROM content WHERE sha256 IN (SELECT value FROM json_each(?))
                AND NOT EXISTS (SELECT 1 FROM result_file WHERE result_file.sha256 = content.sha256)
                """, [list])
        }
        return SweepReport(removed)
    }

    /// Removes uploads that have expired and that no job needs.
    func sweepUploads(at now: Int64) async throws -> SweepReport {
        var report = SweepReport()
        while true {
            let gone = try await write { database, _ in
                try database.rows(
                    """
                    DELETE FROM upload WHERE id IN (SELECT id FROM upload WHERE expires_at <= ?
                        AND NOT \(ExpiredUploads.isNeeded) LIMIT \(Self.removalCountMax)) RETURNING id
                    """, [now]
                ).map { $0[0] as String }
            }
            let files = files
            report.add(
                SweepReport(try await files.run { files.remove(gone) { "\(files.folder.uploads)/\($0)" } }))
            report.uploads += gone.count
            if gone.count < Self.removalCountMax { return report }
        }
    }

    /// Walks the folders: removes contents without a result, and files that have had no row for `unknownFileSeconds`.
    package func sweepUnnamedFiles() async throws -> SweepReport {
        let (files, now) = (files, clock.now().wall)
        let oldest = now.subtracting(clamping: Int64(clamping: limits.unknownFileSeconds * 1000.0))
        var report = SweepReport()
        for folder in try await files.run({ ContentFiles.names(files.folder.content) }) where folder.count == 2 {
            let names = try await files.run { ContentFiles.names("\(files.folder.content)/\(folder)") }
            let contents = names.filter { $0.count == 64 && $0.hasPrefix(folder) }
            for start in stride(from: 0, to: contents.count, by: Self.removalCountMax) {
                let some = Array(contents[start..<min(start + Self.removalCountMax, contents.count)])
                let unknown = try await unnamed(some, "content", "sha256")
                report.add(try await sweepUnknown(unknown, until: oldest, at: now, removeContents))
            }
        }
        report.add(try await removeContents(try await orphans()))
        let uploads = try await files.run { ContentFiles.names(files.folder.uploads) }.filter { MediaID($0) != nil }
        let unknown = try await unnamed(uploads, "upload", "id")
        report.add(try await sweepUnknown(unknown, until: oldest, at: now, removeUnnamedUploads))
        try await write { database, _ in try UnknownFiles.deleteExpired(until: oldest, database) }
        return report
    }

    /// - Parameter remove: checks again that the files are unneeded, and removes them.
    private func sweepUnknown(
        _ names: [String], until oldest: Int64, at now: Int64, _ remove: ([String]) async throws -> SweepReport
    ) async throws -> SweepReport {
        // Held files are being stored and will get a row.
        let unknown = names.filter { !files.isHeld($0) }
        guard !unknown.isEmpty else { return SweepReport() }
        let due = try await write { database, _ in try UnknownFiles.due(unknown, until: oldest, database, at: now) }
        var report = try await remove(due)
        report.unknownFiles = unknown.count - due.count
        return report
    }

    private func unnamed(_ names: [String], _ table: String, _ column: String) async throws -> [String] {
        let list = try StoredJSON.text(names)
        return try await read { database in
            try database.rows(
                """
                SELECT value FROM json_each(?) WHERE NOT EXISTS
                    (SELECT 1 FROM \(table) WHERE \(table).\(column) = value)
                """, [list]
            ).map { $0[0] }
        }
    }

    /// Contents with a row but without a result; the file may be missing already.
    private func orphans() async throws -> [String] {
        try await read { database in
            try database.rows(
                """
                SELECT sha256 FROM content WHERE NOT EXISTS
                    (SELECT 1 FROM result_file WHERE result_file.sha256 = content.sha256)
                """
            ).map { $0[0] }
        }
    }

    private func removeUnnamedUploads(_ names: [String]) async throws -> SweepReport {
        let (files, pool) = (files, pool)
        return SweepReport(
            try await files.run {
                // Uploads that were stored meanwhile are held or have a row.
                let gone = try names.filter { !files.isHeld($0) }.filter { name in
                    try pool.read { try $0.number("SELECT 1 FROM upload WHERE id = ?", [name]) } == nil
                }
                return files.remove(gone) { "\(files.folder.uploads)/\($0)" }
            })
    }
}

extension ContentFiles {
    /// Removes files that are not held; missing files count as removed.
    package func remove(_ names: [String], at path: (String) -> String) -> [RemovedFile] {
        names.compactMap { name in
            guard !isHeld(name) else { return nil }
            let bytes = Self.size(path(name)) ?? 0
            guard unsafe unlink(path(name)) == 0 || errno == ENOENT else { return nil }
            return RemovedFile(name: name, bytes: bytes)
        }
    }

    /// Returns the names in a folder; empty when it cannot be read.
    package static func names(_ folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }
}

/// Files in the data folder without a database row.
///
/// A crash leaves a few, because files are stored before their rows are committed. A database that was emptied,
/// replaced or restored from a backup leaves all of them, and their URLs may have been sent already. So an unknown file
/// is recorded first and removed only after `StoreLimits.unknownFileSeconds`; until then it is served again as soon as
/// its rows are restored.
enum UnknownFiles {
    /// `name`: the SHA-256 of content, or the id of an upload.
    static let schema = """
        CREATE TABLE unknown_file (name TEXT PRIMARY KEY, found_at INTEGER NOT NULL) WITHOUT ROWID;
        """

    /// Records new unknown files.
    ///
    /// - Returns: The files that were recorded at or before `oldest`.
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

    /// After a walk over all files, deletes the records of files that have a row again or no longer exist.
    static func deleteExpired(until oldest: Int64, _ database: Database) throws {
        try database.run(
            """
            DELETE FROM unknown_file WHERE found_at <= ?
                OR name IN (SELECT sha256 FROM content) OR name IN (SELECT id FROM upload)
            """, [oldest])
    }
}
