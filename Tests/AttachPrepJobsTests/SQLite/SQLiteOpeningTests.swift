import AttachPrep
import AttachPrepJobs
import Foundation
import GRDB
import RichPush
import TestSupport
import Testing

@Suite struct SQLiteOpeningTests {
    private func refusal(
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

    /// The database of a folder in which one job waits, closed.
    private func makeDatabase(_ folder: TemporaryFolder) async throws -> JobID {
        let sqlite = try await SQLiteUnderTest(folder: folder)
        let id = try await sqlite.driver.enqueue(.sample())[0]
        await sqlite.store.close()
        return id
    }

    @Test func `the folder and the database are for their owner alone`() async throws {
        let sqlite = try await SQLiteUnderTest()
        #expect(try permissions(sqlite.folder.path("state")) == 0o700)
        #expect(try permissions(sqlite.folder.path("state/jobs.sqlite")) == 0o600)
        #expect(try permissions(sqlite.folder.path("state/jobs.sqlite-wal")) == 0o600)
    }

    @Test func `a second service of the same folder is refused, and one after the first is not`() async throws {
        let folder = try TemporaryFolder()
        do {
            let first = try await SQLiteUnderTest(folder: folder)
            let error = try await refusal(folder)
            #expect(error.code == .queueUnavailable && error.message.contains("Another attachprep serve"))
            _ = try await first.driver.enqueue(.sample())
            await first.store.close()
        }
        #expect(try await SQLiteUnderTest(folder: folder).store.counts().byState[.queued] == 1)
    }

    @Test func `a command works beside the service`() async throws {
        let service = try await SQLiteUnderTest()
        let id = try await service.driver.enqueue(.sample())[0]
        let command = try await SQLiteUnderTest(folder: service.folder, clock: service.clock, role: .command)
        #expect(try await command.store.cancel(id).state == .cancelled)
        #expect(try await service.driver.job(id).state == .cancelled)
        _ = try await service.store.retry(id)
        #expect(try await command.driver.job(id).state == .queued)
    }

    @Test func `a command makes no database`() async throws {
        let folder = try TemporaryFolder()
        #expect(try await refusal(folder, role: .command).code == .queueUnavailable)
        #expect(try folder.contents().isEmpty)
    }

    @Test func `what ran when the process ended is queued again, and the lost lease is counted`() async throws {
        let (folder, clock) = (try TemporaryFolder(), TestClock())
        do {
            let sqlite = try await SQLiteUnderTest(folder: folder, clock: clock)
            _ = try await sqlite.driver.enqueue(.sample())
            _ = try await sqlite.driver.claimOne()
            await sqlite.store.close()
        }
        let sqlite = try await SQLiteUnderTest(folder: folder, clock: clock, bootID: "second start")
        let claimed = try await sqlite.driver.claimOne()
        #expect(claimed.losses == 1 && claimed.failures == 0)
    }

    @Test func `webhooks on their way when the process ended are due again`() async throws {
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
    func `a damaged database is named and left byte for byte`(_ place: Int) async throws {
        let folder = try TemporaryFolder()
        _ = try await makeDatabase(folder)
        var bytes = try folder.bytes(of: "state/jobs.sqlite")
        bytes.replaceSubrange(place..<place + 3_000, with: repeatElement(0xA5, count: 3_000))
        let path = try folder.write(bytes, to: "state/jobs.sqlite")
        let error = try await refusal(folder)
        #expect(error.code == .queueUnavailable && error.message.contains(path) && error.message.contains("damaged"))
        #expect(try folder.bytes(of: "state/jobs.sqlite") == bytes)
    }

    @Test func `a file that is no database is left as it is`() async throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("state")
        try folder.write("Dear diary", to: "state/jobs.sqlite")
        #expect(try await refusal(folder).message.contains("damaged"))
        #expect(try folder.bytes(of: "state/jobs.sqlite") == Array("Dear diary".utf8))
    }

    @Test func `another program's database and a newer version's are refused`() async throws {
        let folder = try TemporaryFolder()
        _ = try await makeDatabase(folder)
        let path = folder.path("state/jobs.sqlite")
        try await DatabaseQueue(path: path).write { try $0.execute(sql: "PRAGMA user_version = 99") }
        #expect(try await refusal(folder).message.contains("newer attachprep"))
        try await DatabaseQueue(path: path).write { try $0.execute(sql: "PRAGMA application_id = 7") }
        #expect(try await refusal(folder).message.contains("another program's"))
    }

    @Test func `a folder that cannot be made is named`() async throws {
        let folder = try TemporaryFolder()
        try folder.write("a file", to: "state")
        #expect(try await refusal(folder).message.contains(folder.path("state")))
    }

    @Test func `secrets are gone from the files when their job has succeeded`() async throws {
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

    @Test func `secrets of callbacks and headers are gone once they are delivered and the service has stopped`()
        async throws
    {
        let sqlite = try await SQLiteUnderTest()
        // Long ones leave the page of their row; many move the rows of others.
        let secrets = (0..<60).map { "secret-\($0)-" + String(repeating: "x", count: $0 * 97) }
        var submissions: [JobSubmission] = []
        for secret in secrets {
            var submission = JobSubmission.sample(host: nil, headers: ["Authorization": "Bearer \(secret)"])
            submission.request.jobOptions.callbackURL = "https://user:\(secret)@hooks.example/?token=\(secret)"
            submissions.append(submission)
        }
        for part in [submissions[..<30], submissions[30...]] {
            _ = try await sqlite.store.enqueue(Array(part), idempotency: nil)
            for job in try await sqlite.driver.claim(30) {
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

    @Test func `a running service has wiped its log after the next housekeeping`() async throws {
        let sqlite = try await SQLiteUnderTest()
        try await OutboxConformance.told(sqlite.driver, "https://hooks.example/?token=secret-that-must-go")
        for webhook in try await OutboxConformance.claim(sqlite.driver) {
            try await sqlite.store.record(webhook.id, .delivered(status: 204))
        }
        _ = try await sqlite.store.sweep()
        #expect(try files(sqlite, with: "secret-that-must-go") == [])
        await sqlite.store.close()
    }

    @Test func `ten thousand jobs are all there after a start`() async throws {
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

    @Test func `what was kept is there when the process ends without a word`() async throws {
        let sqlite = try await SQLiteUnderTest()
        let ids = try await sqlite.driver.enqueue(.sample(), .sample(), .sample())
        let lease = try await sqlite.driver.claimOne().lease
        let stored = try await sqlite.store("text", key: "key")
        #expect(try await sqlite.store.finish(lease, .succeeded(stored.manifest, stored.media), notice: .sample()))
        _ = try await sqlite.driver.claimOne()
        // What a kill leaves: the files as they are, nothing closed.
        let after = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: sqlite.folder.path("state"), toPath: after.path("state"))
        let survivor = try await SQLiteUnderTest(folder: after, clock: sqlite.clock)
        let states = try await ids.asyncMap { try await survivor.driver.job($0).state }
        #expect(states == [.succeeded, .queued, .queued])
        #expect(try await survivor.store.file("attachment.jpg", of: stored.media) != nil)
        #expect(try await survivor.store.webhookCounts()[.pending] == 1)
        #expect(try await survivor.driver.claim(2).map(\.losses) == [1, 0])
    }

    @Test func `a closed store says so, and leaves its folder to the next`() async throws {
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
