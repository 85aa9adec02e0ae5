import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import GRDB
import MediaTypes
import TestSupport
import Testing

@Suite struct SQLiteStoreTests {
    private func openingError(
        _ folder: TemporaryFolder, role: StoreRole = .service
    ) async throws -> AttachPrepError {
        let error = await #expect(throws: AttachPrepError.self) {
            _ = try await SQLiteUnderTest(folder: folder, role: role)
        }
        return try #require(error)
    }

    private func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// Creates a database with one queued job in a folder, and closes it.
    private func makeDatabase(_ folder: TemporaryFolder) async throws -> JobID {
        let sqlite = try await SQLiteUnderTest(folder: folder)
        let id = try await sqlite.driver.enqueue(.sample())[0]
        await sqlite.store.close()
        return id
    }

    @Test func `The folder and the database are accessible to their owner only`() async throws {
        let sqlite = try await SQLiteUnderTest()
        #expect(try permissions(sqlite.folder.path("state")) == 0o700)
        #expect(try permissions(sqlite.folder.path("state/jobs.sqlite")) == 0o600)
        #expect(try permissions(sqlite.folder.path("state/jobs.sqlite-wal")) == 0o600)
    }

    @Test func `A second service in the same folder is rejected until the first is closed`() async throws {
        let folder = try TemporaryFolder()
        do {
            let first = try await SQLiteUnderTest(folder: folder)
            let error = try await openingError(folder)
            #expect(error.code == .queueUnavailable && error.message.contains("Another attachprep serve"))
            _ = try await first.driver.enqueue(.sample())
            await first.store.close()
        }
        #expect(try await SQLiteUnderTest(folder: folder).store.counts().byState[.queued] == 1)
    }

    @Test func `A command can use the store while the service runs`() async throws {
        let service = try await SQLiteUnderTest()
        let id = try await service.driver.enqueue(.sample())[0]
        let command = try await SQLiteUnderTest(folder: service.folder, clock: service.clock, role: .command)
        #expect(try await command.store.cancel(id).state == .cancelled)
        #expect(try await service.driver.job(id).state == .cancelled)
        _ = try await service.store.retry(id)
        #expect(try await command.driver.job(id).state == .queued)
    }

    @Test func `A command does not create a database`() async throws {
        let folder = try TemporaryFolder()
        #expect(try await openingError(folder, role: .command).code == .queueUnavailable)
        #expect(try folder.contents().isEmpty)
    }

    @Test func `A job that ran when the process ended is queued again, and its loss is counted`() async throws {
        let (folder, clock) = (try TemporaryFolder(), TestClock())
        do {
            let sqlite = try await SQLiteUnderTest(folder: folder, clock: clock)
            _ = try await sqlite.driver.enqueue(.sample())
            _ = try await sqlite.driver.claimOne()
            await sqlite.store.close()
        }
        let sqlite = try await SQLiteUnderTest(folder: folder, clock: clock, bootID: "second start")
        clock.advance(2)
        let claimed = try await sqlite.driver.claimOne()
        #expect(claimed.losses == 1 && claimed.failures == 0)
    }

    @Test func `Webhooks that were being sent when the process ended are due again`() async throws {
        let folder = try TemporaryFolder()
        do {
            let sqlite = try await SQLiteUnderTest(folder: folder)
            _ = try await sqlite.finishedJob(notice: .sample())
            #expect(try await sqlite.store.claimWebhooks(1, lease: .seconds(600)).count == 1)
            await sqlite.store.close()
        }
        let sqlite = try await SQLiteUnderTest(folder: folder)
        #expect(try await sqlite.store.claimWebhooks(1, lease: .seconds(600)).count == 1)
    }

    @Test(arguments: [0, 4_096, 20_000])
    func `A damaged database is reported and left unchanged`(_ offset: Int) async throws {
        let folder = try TemporaryFolder()
        _ = try await makeDatabase(folder)
        var bytes = try folder.bytes(of: "state/jobs.sqlite")
        bytes.replaceSubrange(offset..<offset + 3_000, with: repeatElement(0xA5, count: 3_000))
        let path = try folder.write(bytes, to: "state/jobs.sqlite")
        let error = try await openingError(folder)
        #expect(error.code == .queueUnavailable && error.message.contains(path) && error.message.contains("damaged"))
        #expect(try folder.bytes(of: "state/jobs.sqlite") == bytes)
    }

    @Test func `A file that is not a database is reported and left unchanged`() async throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("state")
        try folder.write("Dear diary", to: "state/jobs.sqlite")
        #expect(try await openingError(folder).message.contains("damaged"))
        #expect(try folder.bytes(of: "state/jobs.sqlite") == Array("Dear diary".utf8))
    }

    @Test func `A database of another program or of a newer version is rejected`() async throws {
        let folder = try TemporaryFolder()
        _ = try await makeDatabase(folder)
        try await folder.openDatabase().write {
            try $0.execute(sql: "UPDATE setting SET value = '99' WHERE name = 'schema'")
        }
        #expect(try await openingError(folder).message.contains("newer attachprep"))
        try await folder.openDatabase().write { try $0.execute(sql: "PRAGMA application_id = 7") }
        #expect(try await openingError(folder).message.contains("another program's"))
    }

    @Test func `A folder that cannot be created is reported`() async throws {
        let folder = try TemporaryFolder()
        try folder.write("a file", to: "state")
        #expect(try await openingError(folder).message.contains(folder.path("state")))
    }

    @Test func `Secrets are removed from the files after their job has succeeded`() async throws {
        let secret = "secret-that-must-go"
        let sqlite = try await SQLiteUnderTest()
        let submission = JobSubmission.sample(headers: ["Authorization": "Bearer \(secret)"])
        let holds = { () -> Bool in
            ["jobs.sqlite", "jobs.sqlite-wal"].contains { name in
                let data = FileManager.default.contents(atPath: sqlite.folder.path("state/\(name)"))
                return data?.range(of: Data(secret.utf8)) != nil
            }
        }
        _ = try await sqlite.driver.enqueue(submission)
        #expect(holds())
        let lease = try await sqlite.driver.claimOne().lease
        _ = try await sqlite.store.finish(lease, .succeeded(.sample(), .make()), notice: nil)
        _ = try await sqlite.store.sweep()
        #expect(!holds())
    }

    /// Files of the data folder that hold a text, as bytes.
    private func files(_ sqlite: SQLiteUnderTest, with secret: String) throws -> [String] {
        try sqlite.folder.contents().filter { name in
            FileManager.default.contents(atPath: sqlite.folder.path(name))?.range(of: Data(secret.utf8)) != nil
        }
    }

    @Test func `Secrets of delivered webhooks and headers are gone when the service has stopped`() async throws {
        let sqlite = try await SQLiteUnderTest()
        // Long ones need overflow pages; many of them move the rows of others.
        let secrets = (0..<60).map { "secret-\($0)-" + String(repeating: "x", count: $0 * 97) }
        var submissions: [JobSubmission] = []
        for secret in secrets {
            var submission = JobSubmission.sample(host: nil, headers: ["Authorization": "Bearer \(secret)"])
            submission.request.jobOptions.callbackURL = "https://user:\(secret)@hooks.example/?token=\(secret)"
            submissions.append(submission)
        }
        for part in [submissions[..<30], submissions[30...]] {
            _ = try await sqlite.store.enqueue(Array(part), idempotency: nil)
            for job in try await sqlite.driver.claim(30, hostLimit: 30) {
                let url = try #require(job.request.jobOptions.callbackURL)
                let notice = WebhookNotice(url: url, event: .attachmentPrepared, body: "{}")
                #expect(try await sqlite.store.finish(job.lease, .succeeded(.sample(), .make()), notice: notice))
            }
        }
        #expect(try !files(sqlite, with: "secret-59-").isEmpty)
        while case let webhooks = try await sqlite.store.claimWebhooks(60, lease: .seconds(60)), !webhooks.isEmpty {
            for webhook in webhooks {
                #expect(webhook.notice.url.contains("secret-"))
                try await sqlite.store.record(webhook.id, .delivered(status: 204))
            }
        }
        #expect(try await sqlite.store.webhookCounts()[.delivered] == 60)
        await sqlite.store.close()
        #expect(try files(sqlite, with: "secret-") == [])
    }

    @Test func `A sweep removes secrets from the log of a running service`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await OutboxConformance.addWebhooks(sqlite.driver, "https://hooks.example/?token=secret-that-must-go")
        for webhook in try await OutboxConformance.claim(sqlite.driver) {
            try await sqlite.store.record(webhook.id, .delivered(status: 204))
        }
        _ = try await sqlite.store.sweep()
        #expect(try files(sqlite, with: "secret-that-must-go") == [])
        await sqlite.store.close()
    }

    @Test func `Ten thousand jobs are kept across a restart`() async throws {
        let folder = try TemporaryFolder()
        do {
            let sqlite = try await SQLiteUnderTest(folder: folder)
            _ = try await sqlite.store.enqueue((0..<10_000).map { _ in .sample() }, idempotency: nil)
            await sqlite.store.close()
        }
        let sqlite = try await SQLiteUnderTest(folder: folder)
        let counts = try await sqlite.store.counts()
        #expect(counts.byState[.queued] == 10_000 && counts.due == 10_000)
    }

    @Test func `Stored data is kept when the process is killed`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let ids = try await sqlite.driver.enqueue(.sample(), .sample(), .sample())
        let lease = try await sqlite.driver.claimOne().lease
        let stored = try await sqlite.store("text", key: "key")
        #expect(try await sqlite.store.finish(lease, .succeeded(stored.manifest, stored.media), notice: .sample()))
        _ = try await sqlite.driver.claimOne()
        // The files as a killed process leaves them, without closing the store.
        let after = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: sqlite.folder.path("state"), toPath: after.path("state"))
        let reopened = try await SQLiteUnderTest(folder: after, clock: sqlite.clock)
        let states = try await ids.asyncMap { try await reopened.driver.job($0).state }
        #expect(states == [.succeeded, .queued, .queued])
        #expect(try await reopened.store.file("attachment.jpg", of: stored.media) != nil)
        #expect(try await reopened.store.webhookCounts()[.pending] == 1)
        sqlite.clock.advance(2)
        #expect(try await reopened.driver.claim(2).map(\.losses) == [0, 1])
    }

    @Test func `A closed store throws an error and releases its folder`() async throws {
        let sqlite = try await SQLiteUnderTest()
        await sqlite.store.close()
        let error = await #expect(throws: AttachPrepError.self) { try await sqlite.driver.enqueue(.sample()) }
        #expect(error?.code == .queueUnavailable)
        let read = await #expect(throws: AttachPrepError.self) { try await sqlite.store.counts() }
        #expect(read?.code == .queueUnavailable)
        _ = try await SQLiteUnderTest(folder: sqlite.folder)
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
