import AttachPrep
import GRDB
import Glibc
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SQLiteStore {
    /// Removes the files of contents that no result has, and only then their rows: what is on the disk is counted.
    func removeContents(_ contents: [String]) async throws -> SweepReport {
        guard !contents.isEmpty else { return SweepReport() }
        let (files, pool) = (files, pool)
        let removed = try await files.run {
            // On the thread that places files, so that nobody can begin to need one meanwhile. Who holds is asked
            // before who names: what was let go of by now has its row, which the look that follows sees.
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

    /// Uploads whose time is over and that no job needs.
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
            report.uploads += gone.count  // Bounded: lengths and places within what is in memory.
            if gone.count < Self.removalCountMax { return report }
        }
    }

    /// Walks the folders: removes contents that no result names any more, and files that no row has known for long.
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
        try await write { database, _ in try UnknownFiles.forget(until: oldest, database) }
        return report
    }

    /// - Parameter remove: asks once more whether anybody needs them.
    private func sweepUnknown(
        _ names: [String], until oldest: Int64, at now: Int64, _ remove: ([String]) async throws -> SweepReport
    ) async throws -> SweepReport {
        // One that is held is being stored now, and gets its row.
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

    /// Contents with a row of their own and no result: their file may be gone already.
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
                // As above: what was kept meanwhile is held, or has its row.
                let gone = try names.filter { !files.isHeld($0) }.filter { name in
                    try pool.read { try $0.number("SELECT 1 FROM upload WHERE id = ?", [name]) } == nil
                }
                return files.remove(gone) { "\(files.folder.uploads)/\($0)" }
            })
    }
}

/// A file that is gone.
struct RemovedFile: Sendable {
    var name: String
    var bytes: Int
}

extension SweepReport {
    init(_ removed: [RemovedFile]) {
        self.init()
        files = removed.count
        bytes = removed.map(\.bytes).reduce(0, +)
    }
}

extension ContentFiles {
    /// Removes files that nobody holds; those that were not there any more count as removed.
    func remove(_ names: [String], at path: (String) -> String) -> [RemovedFile] {
        names.compactMap { name in
            guard !isHeld(name) else { return nil }
            let bytes = Self.size(path(name)) ?? 0
            guard unsafe unlink(path(name)) == 0 || errno == ENOENT else { return nil }
            return RemovedFile(name: name, bytes: bytes)
        }
    }

    /// What is in a folder; nothing when it cannot be read.
    static func names(_ folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }
}
