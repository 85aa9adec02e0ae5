import AttachPrep
package import AttachPrepJobs
import FoundationEssentials
import Glibc
import MediaTypes
import SafeArithmetic

extension SQLJobStore {
    /// Removes the files of contents without a result, and then their rows, so that all files on disk stay counted.
    func removeContents(_ contents: [String]) async throws -> SweepReport {
        guard !contents.isEmpty, let files else { return SweepReport() }
        let removed = try await files.remove(contents, at: files.path) { free in
            try await self.read { connection in
                try connection.rows(
                    "SELECT DISTINCT sha256 FROM result_file WHERE \(connection.dialect.isAmong("sha256", 1))",
                    [.texts(free)]
                ).map { $0[0] as String }
            }
        }
        let names = removed.map(\.name)
        try await write { transaction in
            let rows = try transaction.rows(
                """
                SELECT sha256, bytes FROM content WHERE \(transaction.dialect.isAmong("sha256", 1))
                AND NOT EXISTS (SELECT 1 FROM result_file WHERE result_file.sha256 = content.sha256)
                """, [.texts(names)])
            transaction.later(
                "DELETE FROM content WHERE \(transaction.dialect.isAmong("sha256", 1))", [.texts(rows.map { $0[0] })])
            for row in rows { transaction.removed(mediaBytes: row[1]) }
        }
        return SweepReport(removed)
    }

    /// Removes uploads that have expired and that no job needs.
    func sweepUploads() async throws -> SweepReport {
        var report = SweepReport()
        while true {
            let gone = try await write { transaction in
                let rows = try transaction.rows(
                    """
                    SELECT id, bytes FROM upload WHERE expires_at <= $1 AND NOT \(ExpiredUploads.isNeeded)
                    LIMIT \(Self.removalCountMax)
                    """, [.integer(transaction.moment.wall)])
                let ids = rows.map { $0[0] as String }
                transaction.later("DELETE FROM upload WHERE \(transaction.dialect.isAmong("id", 1))", [.texts(ids)])
                for row in rows { transaction.removed(mediaBytes: row[1]) }
                return ids
            }
            report.add(SweepReport(try await uploadBytes.remove(gone)))
            report.uploads += gone.count
            if gone.count < Self.removalCountMax { return report }
        }
    }

    /// Walks the folders: removes contents without a result, and files that have had no row for `unknownFileSeconds`.
    ///
    /// Nothing when files are published elsewhere.
    package func sweepUnnamedFiles() async throws -> SweepReport {
        guard let files else { return SweepReport() }
        let now = clock.now().wall
        let oldest = now.subtracting(clamping: Int64(clamping: limits.unknownFileSeconds * 1000.0))
        var report = SweepReport()
        for folder in try await files.run({ ContentFiles.names(files.folder.content) }) where folder.utf8.count == 2 {
            let names = try await files.run { ContentFiles.names("\(files.folder.content)/\(folder)") }
            let contents = names.filter { $0.utf8.count == 64 && $0.utf8.starts(with: folder.utf8) }
            for start in stride(from: 0, to: contents.count, by: Self.removalCountMax) {
                let some = Array(contents[start..<min(start + Self.removalCountMax, contents.count)])
                let unknown = try await unnamed(some, table: "content", column: "sha256").filter { !files.isHeld($0) }
                report.add(try await sweepUnknown(unknown, until: oldest, at: now, removeContents))
            }
        }
        report.add(try await removeContents(try await orphans()))
        let uploads = try await files.run { ContentFiles.names(files.folder.uploads) }.filter { MediaID($0) != nil }
        let unknown = try await unnamed(uploads, table: "upload", column: "id").filter { !files.isHeld($0) }
        report.add(
            try await sweepUnknown(unknown, until: oldest, at: now) { names in
                let removed = try await files.remove(names, at: { "\(files.folder.uploads)/\($0)" }) { free in
                    // Uploads that were stored meanwhile have a row.
                    Set(free).subtracting(try await self.unnamed(free, table: "upload", column: "id")).sorted()
                }
                return SweepReport(removed)
            })
        try await write { try UnknownFiles.deleteExpired(until: oldest, $0) }
        return report
    }

    /// - Parameter remove: checks again that the files are unneeded, and removes them.
    private func sweepUnknown(
        _ names: [String], until oldest: Int64, at now: Int64, _ remove: ([String]) async throws -> SweepReport
    ) async throws -> SweepReport {
        guard !names.isEmpty else { return SweepReport() }
        let due = try await write { try UnknownFiles.due(names, until: oldest, $0, at: now) }
        var report = try await remove(due)
        report.unknownFiles = names.count - due.count
        return report
    }

    private func unnamed(_ names: [String], table: String, column: String) async throws -> [String] {
        try await read { connection in
            try connection.rows(
                """
                SELECT found.value FROM \(connection.dialect.list(1, as: "found")) WHERE NOT EXISTS
                    (SELECT 1 FROM \(table) WHERE \(table).\(column) = found.value)
                """, [.texts(names)]
            ).map { $0[0] }
        }
    }

    /// Contents with a row but without a result; the file may be missing already.
    private func orphans() async throws -> [String] {
        try await read { connection in
            try connection.rows(
                """
                SELECT sha256 FROM content WHERE NOT EXISTS
                    (SELECT 1 FROM result_file WHERE result_file.sha256 = content.sha256)
                """
            ).map { $0[0] }
        }
    }
}

extension ContentFiles {
    /// Removes files that nothing needs.
    ///
    /// - Parameter needed: those of the given names that rows refer to. A file that was stored since then is not
    ///   removed.
    func remove(
        _ names: [String], at path: @escaping @Sendable (String) -> String,
        needed: ([String]) async throws -> [String]
    ) async throws -> [RemovedFile] {
        let removal = beginRemoval(names)
        defer { endRemoval(removal) }
        // Holds are checked before rows: a hold that was released by then has committed its row, which the query finds.
        let free = names.filter { !isHeld($0) }
        let unneeded = Set(free).subtracting(try await needed(free)).sorted()
        return try await run { [self] in
            unneeded.compactMap { name in
                guard mayRemove(name, removal) else { return nil }
                let bytes = Self.size(path(name)) ?? 0
                // A missing file counts as removed.
                guard unsafe unlink(path(name)) == 0 || errno == ENOENT else { return nil }
                return RemovedFile(name: name, bytes: bytes)
            }
        }
    }

    /// Returns the names in a folder; empty when it cannot be read.
    static func names(_ folder: String) -> [String] {
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
    /// Records new unknown files.
    ///
    /// - Returns: The files that were recorded at or before `oldest`.
    static func due(
        _ names: [String], until oldest: Int64, _ transaction: StoreTransaction, at now: Int64
    ) throws -> [String] {
        transaction.later(
            """
            INSERT INTO unknown_file (name, found_at)
            SELECT found.value, $1 FROM \(transaction.dialect.list(2, as: "found")) WHERE true ON CONFLICT DO NOTHING
            """, [.integer(now), .texts(names)])
        return try transaction.rows(
            "SELECT name FROM unknown_file WHERE found_at <= $1 AND \(transaction.dialect.isAmong("name", 2))",
            [.integer(oldest), .texts(names)]
        ).map { $0[0] }
    }

    /// After a walk over all files, deletes the records of files that have a row again or no longer exist.
    static func deleteExpired(until oldest: Int64, _ transaction: StoreTransaction) throws {
        transaction.later(
            """
            DELETE FROM unknown_file WHERE found_at <= $1
                OR name IN (SELECT sha256 FROM content) OR name IN (SELECT id FROM upload)
            """, [.integer(oldest)])
    }
}
