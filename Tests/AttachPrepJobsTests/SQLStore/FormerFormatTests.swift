import AttachPrepJobs
import Foundation
import GRDB
import MediaTypes
import SQLStore
import SQLiteDatabase
import TestSupport
import Testing

/// Databases of every format that attachprep has written: `Tests/Fixtures/databases/format-N.sql` has the schema as the
/// last version with format N created it, with jobs, a result, a webhook and an upload in the encodings of that time.
/// A new format adds a script here and the way back to `docs/operations/upgrade.md`.
@Suite struct FormerFormatTests {
    static let formats = Array(1...StoreSchema.version)

    /// Shortly after the rows were written.
    private var clock: TestClock {
        let clock = TestClock()
        clock.advance(Date(timeIntervalSince1970: 1_795_576_700).timeIntervalSince(clock.now))
        return clock
    }

    /// A data folder with the database of a format.
    private func dataFolder(format: Int) async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("state"), withIntermediateDirectories: true)
        let script = try String(
            contentsOfFile: SourceTree.path("Tests/Fixtures/databases/format-\(format).sql"), encoding: .utf8)
        let queue = try folder.openDatabase()
        try await queue.writeWithoutTransaction { try $0.execute(sql: script) }
        try queue.close()
        return folder
    }

    /// Names and SQL without white space, which ALTER TABLE leaves in other places than CREATE TABLE.
    private func schema(_ folder: TemporaryFolder) async throws -> [String] {
        let queue = try folder.openDatabase()
        let parts = try await queue.read {
            try String.fetchAll(
                $0,
                sql: """
                    SELECT name || coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name
                    """)
        }
        return parts.map { $0.filter { !$0.isWhitespace } }
    }

    private func open(_ folder: TemporaryFolder, role: StoreRole = .service) async throws -> SQLiteUnderTest {
        try await SQLiteUnderTest(folder: folder, clock: clock, role: role)
    }

    /// Jobs, their results, the webhook and the counters, as every version reads them.
    private func expectContents(_ sqlite: SQLiteUnderTest, sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        let jobs = try await sqlite.store.list(JobFilter(), after: nil, limit: 10).jobs
        let states = Dictionary(uniqueKeysWithValues: jobs.map { ($0.request.id ?? "", $0.state) })
        #expect(
            states == ["done": .succeeded, "broken": .failed, "later": .queued], sourceLocation: sourceLocation)
        let done = try #require(jobs.first { $0.request.id == "done" })
        #expect(done.result?.attachment?.file == "attachment.jpg", sourceLocation: sourceLocation)
        #expect(done.request.source == "http://cdn.example/grid.jpg", sourceLocation: sourceLocation)
        let broken = try #require(jobs.first { $0.request.id == "broken" })
        #expect(broken.error?.code == .mediaCorrupt, sourceLocation: sourceLocation)
        #expect(try await sqlite.store.log(of: done.id).count == 3, sourceLocation: sourceLocation)
        #expect(try await sqlite.store.webhookCounts()[.pending] == 1, sourceLocation: sourceLocation)
        #expect(try await sqlite.store.counts().byState[.queued] == 1, sourceLocation: sourceLocation)
    }

    @Test func `There is a database of every format`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("Tests/Fixtures/databases"))
        #expect(names.sorted() == Self.formats.map { "format-\($0).sql" })
    }

    @Test(arguments: formats, [StoreRole.service, .command])
    func `A database of each format opens with its contents and the current schema`(format: Int, role: StoreRole)
        async throws
    {
        let (folder, fresh) = (try await dataFolder(format: format), try await SQLiteUnderTest())
        let sqlite = try await open(folder, role: role)
        try await expectContents(sqlite)
        let (upgraded, current) = (try await schema(folder), try await schema(fresh.folder))
        #expect(upgraded == current && current.count > 30)
    }

    @Test(arguments: formats)
    func `A job that an older version queued runs when its time comes, and its webhook is delivered`(format: Int)
        async throws
    {
        let sqlite = try await open(try await dataFolder(format: format))
        #expect(try await sqlite.driver.claim().isEmpty)
        let webhooks = try await sqlite.store.claimWebhooks(5, lease: .seconds(60))
        #expect(webhooks.map(\.notice.url) == ["http://backend.example/hook?key=abc"])
        sqlite.clock.advance(Date(timeIntervalSince1970: 1_798_113_601).timeIntervalSince(sqlite.clock.now))
        #expect(try await sqlite.driver.claim().map(\.request.id) == ["later"])
    }

    @Test(arguments: formats.dropFirst())
    func `The way back in upgrade.md restores the schema of the format before and keeps the jobs`(format: Int)
        async throws
    {
        let (folder, former) = (
            try await dataFolder(format: format), try await dataFolder(format: format - 1)
        )
        let document = try String(contentsOfFile: SourceTree.path("docs/operations/upgrade.md"), encoding: .utf8)
        let blocks = document.components(separatedBy: "```sql\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        let script = try #require(
            blocks.first { $0.contains("UPDATE setting SET value = '\(format - 1)' WHERE name = 'schema';") })
        let queue = try folder.openDatabase()
        try await queue.writeWithoutTransaction { try $0.execute(sql: script) }
        try queue.close()
        let (downgraded, original) = (try await schema(folder), try await schema(former))
        #expect(downgraded == original)
        try await expectContents(try await open(folder))
    }
}
