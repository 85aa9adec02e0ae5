public import AttachPrep
import GRDB
import Glibc
public import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension SQLiteStore: ResultStore {
    public func result(for key: WorkKey) async throws -> StoredResult? {
        let files = files
        return try await read { database -> ResultRecord? in
            let row = try database.row(
                """
                SELECT media, manifest, freshness, fetched_at FROM result WHERE key = ?
                ORDER BY fetched_at DESC LIMIT 1
                """, [key.text])
            guard let record = row.map(ResultRecord.init) else { return nil }
            let contents = try database.rows("SELECT sha256 FROM result_file WHERE media = ?", [record.media])
            // Somebody may have cleared the folder by hand.
            let areThere = contents.allSatisfy { unsafe access(files.path($0[0]), R_OK) == 0 }
            return areThere ? record : nil
        }?.result()
    }

    public func store(
        _ manifest: Manifest, folder: String?, for key: WorkKey, freshness: SourceFreshness?, fetchedAt: Date
    ) async throws -> StoredResult {
        let result = StoredResult(media: .make(), manifest: manifest, freshness: freshness, fetchedAt: fetchedAt)
        let contents = folder == nil ? [] : ResultFile.all(of: manifest)
        let new = try NewResult(result, contents, key, at: clock.now().wall)
        files.hold(contents.map(\.sha256))
        defer { files.letGo(contents.map(\.sha256)) }
        if let folder { try await files.place(contents, from: folder) }
        try await write { database, _ in try new.insert(database) }
        return result
    }

    public func renew(_ media: MediaID, _ freshness: SourceFreshness, fetchedAt: Date) async throws {
        let text = try StoredJSON.text(freshness)
        try await write { database, _ in
            try database.run(
                "UPDATE result SET freshness = ?, fresh_until = ?, fetched_at = max(fetched_at, ?) WHERE media = ?",
                [text, freshness.freshUntil?.milliseconds, fetchedAt.milliseconds, media.text])
        }
    }

    public func file(_ name: String, of media: MediaID) async throws -> StoredFile? {
        let files = files
        return try await read { database in
            try database.row(
                "SELECT mime_type, bytes, sha256 FROM result_file WHERE media = ? AND name = ?", [media.text, name]
            ).map {
                StoredFile(path: files.path($0[2]), name: name, mimeType: $0[0], bytes: $0[1], sha256: $0[2])
            }
        }
    }

    /// Decimal bytes of all files of results and uploads.
    public func mediaBytes() async throws -> Int {
        Int(clamping: try await read { try $0.number("SELECT number FROM tally WHERE name = 'mediaBytes'") } ?? 0)
    }
}

/// A row of results as it is read.
struct ResultRecord: Sendable {
    var media: String
    var manifest: String
    var freshness: String?
    var fetchedAt: Int64

    init(_ row: StoredRow) {
        media = row[0]
        manifest = row[1]
        freshness = row[2]
        fetchedAt = row[3]
    }

    func result() throws -> StoredResult {
        guard let media = MediaID(media) else { throw StoreFault.unreadable("a result") }
        return StoredResult(
            media: media, manifest: try StoredJSON.value(manifest, "a manifest"),
            freshness: try freshness.map { try StoredJSON.value($0, "a result's freshness") },
            fetchedAt: Date(milliseconds: fetchedAt))
    }
}

/// A result as the database takes it.
struct NewResult: Sendable {
    private let media: String
    private let key: String
    private let manifest: String
    private let freshness: String?
    private let freshUntil: Int64?
    private let fetchedAt: Int64
    private let now: Int64
    private let files: [ResultFile]

    init(_ result: StoredResult, _ files: [ResultFile], _ key: WorkKey, at now: Int64) throws {
        media = result.media.text
        self.key = key.text
        manifest = try StoredJSON.text(result.manifest)
        freshness = try result.freshness.map { try StoredJSON.text($0) }
        freshUntil = result.freshness?.freshUntil?.milliseconds
        fetchedAt = result.fetchedAt.milliseconds
        self.now = now
        self.files = files
    }

    func insert(_ database: Database) throws {
        try database.run(
            """
            INSERT INTO result (media, key, manifest, freshness, fresh_until, fetched_at, used_at, bytes)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [media, key, manifest, freshness, freshUntil, fetchedAt, now, files.map(\.bytes).reduce(0, +)])
        for file in files {
            try database.run(
                "INSERT OR IGNORE INTO content (sha256, bytes) VALUES (?, ?)", [file.sha256, file.bytes])
            try database.run(
                "INSERT INTO result_file (media, name, mime_type, bytes, sha256) VALUES (?, ?, ?, ?, ?)",
                [media, file.name, file.mimeType, file.bytes, file.sha256])
        }
    }
}
