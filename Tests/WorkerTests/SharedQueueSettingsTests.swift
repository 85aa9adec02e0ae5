import Foundation
import TestSupport
import Testing

/// What a queue in PostgreSQL needs: settings, roles, a pooler; and what `doctor` and `jobs migrate` say about it.
@Suite(.timeLimit(.minutes(4))) struct SharedQueueSettingsTests {
    let shared: SharedQueueBench

    init() async throws {
        shared = try await SharedQueueBench(try await PostgresServer.start())
    }

    /// Submits a job to a service and returns it when a worker has ended it.
    private func roundTrip(_ shared: SharedQueueBench, _ options: [String] = []) async throws -> ServiceJob {
        let front = try await shared.start("serve", ["--accept-only"] + options)
        let worker = try await shared.start("worker", options)
        let id = try await front.client.submit(#"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#)
        let job = try await front.client.ended(id)
        for process in [front, worker] {
            let log = try await process.stop()
            #expect(log.exitCode == 0, "\(log.errorText)")
        }
        return job
    }

    // MARK: doctor

    @Test func `doctor checks the database and changes nothing`() async throws {
        let arguments = ["doctor", "--publish", "file:", "--format", "json"]
        for _ in 0..<2 {
            let queue = try queue(in: try await shared.command(arguments))
            #expect((queue["tables"] as? [Any])?.isEmpty == true, "\(queue)")
        }
        let front = try await shared.start("serve", ["--accept-only"])
        let queue = try queue(in: try await shared.command(arguments))
        let names = try #require(queue["tables"] as? [[String: Any]]).compactMap { $0["name"] as? String }
        #expect(names.contains("job") && names.contains("finished_job"), "\(names)")
        let text = try await shared.command(["doctor", "--publish", "file:"])
        #expect(text.text.contains("yes  keep jobs in the database"), "\(text.text)\(text.errorText)")
        #expect(text.text.contains("fsync"), "\(text.text)")
        try await front.stop()
    }

    private func queue(in result: CommandResult) throws -> [String: Any] {
        let found = try #require(try JSONSerialization.jsonObject(with: Data(result.text.utf8)) as? [String: Any])
        return try #require((found["queue"] as? [String: Any])?["examination"] as? [String: Any], "\(result.text)")
    }

    @Test func `doctor reports why jobs cannot be kept`() async throws {
        let nowhere = "postgres://queue@127.0.0.1:\(try PostgresServer.freePort())/queue"
        let result = try await shared.command(["doctor", "--publish", "file:", "--queue", nowhere])
        #expect(result.exitCode == 1 && result.text.contains("NO   keep jobs in the database"), "\(result.text)")
        #expect(result.text.contains("nothing accepts connections there"), "\(result.text)")
    }

    // MARK: Roles and poolers

    @Test func `A role without DDL rights works after the owner has run jobs migrate`() async throws {
        let roles = try String(contentsOfFile: SourceTree.path("deploy/cluster/roles.sql"), encoding: .utf8)
        try await shared.server.psql(roles)
        var owner = shared
        owner.url = "postgres://attachprep_owner@127.0.0.1:\(shared.server.port)/postgres"
        var narrow = shared
        narrow.url = "postgres://attachprep@127.0.0.1:\(shared.server.port)/postgres"
        let early = try await narrow.command(["worker", "--port", "0"])
        #expect(early.exitCode == 1 && early.errorText.contains("denied a permission"), "\(early.errorText)")
        let migrated = try await owner.command(["jobs", "migrate"])
        #expect(migrated.exitCode == 0 && migrated.text.contains("up to date"), "\(migrated.text)\(migrated.errorText)")
        #expect(try await roundTrip(narrow).state == "succeeded")
        let again = try await owner.command(["jobs", "migrate"])
        #expect(again.exitCode == 0, "\(again.errorText)")
        let doctor = try await narrow.command(["doctor", "--publish", "file:"])
        #expect(doctor.text.contains("yes  keep jobs in the database"), "\(doctor.text)")
    }

    @Test func `Jobs, results and webhooks pass a PgBouncer that pools transactions`() async throws {
        var pooled = shared
        let pooler = try await PgBouncer.start(before: shared.server)
        pooled.url = pooler.url
        let front = try await pooled.start("serve", ["--accept-only"])
        let worker = try await pooled.start("worker")
        let body = #"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#
        let response = try await front.client.send("POST", "/v1/jobs", body: body, headers: ["Prefer": "wait=60"])
        #expect(response.status == 200, "\(response.status) \(response.text)")
        let ids = try await front.client.submit(lines: Array(repeating: body, count: 20))
        for id in ids { #expect(try await front.client.ended(id).state == "succeeded") }
        let doctor = try await pooled.command(["doctor", "--publish", "file:"])
        #expect(doctor.text.contains("behind a pooler"), "\(doctor.text)")
        for process in [front, worker] {
            let log = try await process.stop()
            #expect(log.exitCode == 0 && log.errorText.contains("pooler of transactions"), "\(log.errorText)")
        }
    }

    @Test func `Two queues share a database in schemas of their own`() async throws {
        let one = try await shared.start("serve", ["--accept-only"])
        let other = try await shared.start("serve", ["--accept-only", "--queue-schema", "second"])
        let id = try await one.client.submit(#"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#)
        #expect(try await other.client.get("/v1/jobs/\(id)").status == 404)
        #expect(try await one.client.get("/v1/jobs/\(id)").status == 200)
        for process in [one, other] { try await process.stop() }
    }

    // MARK: Secrets

    @Test func `No secret of a job is in the data folder, the log of changes or a dump of the database`() async throws {
        let origin = try LoopbackServer()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        origin.serve("/p4th.jpg", .body(image, type: "image/jpeg"))
        let receiver = try LoopbackServer()
        // The first webhook is delivered, the second stays.
        receiver.serve("/h00k-1", .status(204))
        receiver.serve("/h00k-2", .status(503))
        let secretFile = try shared.bench.folder.write(
            "whsec_" + Data("s1gning-key-of-the-webhook-tests".utf8).base64EncodedString(), to: "secret")
        let front = try await shared.start("serve", ["--accept-only", "--webhook-secret-file", secretFile])
        func body(_ number: Int, _ path: String) -> String {
            #"""
            {"source": "\#(origin.url(path))?token=t0ken-\#(number)",
             "headers": {"Authorization": "Bearer h34der-\#(number)"},
             "callbackURL": "\#(receiver.url("/h00k-\(number)"))?token=callb4ck-\#(number)"}
            """#
        }
        let (done, failed) = (
            try await front.client.submit(body(1, "/p4th.jpg")), try await front.client.submit(body(2, "/g0ne.jpg"))
        )
        // Also what waits, is claimed, and has ended.
        try await search()
        let worker = try await shared.start("worker", ["--webhook-secret-file", secretFile])
        #expect(try await front.client.ended(done).state == "succeeded")
        #expect(try await front.client.ended(failed).state == "failed")
        await receiver.until { $0.requests.count >= 2 }
        // The worker and the receiver had them.
        #expect(origin.requests.contains { $0.headers["authorization"] == "Bearer h34der-1" }, "\(origin.requests)")
        #expect(receiver.requests.contains { $0.target.contains("callb4ck-1") }, "\(receiver.requests.map(\.target))")
        try await search()
        for process in [front, worker] { try await process.stop() }
    }

    @Test func `The secret of a sealed result is not in the database, while its webhook waits`() async throws {
        let receiver = try LoopbackServer()
        receiver.serve("/in", .status(503))
        let secretFile = try shared.bench.folder.write(
            "whsec_" + Data("s1gning-key-of-the-webhook-tests".utf8).base64EncodedString(), to: "secret")
        let service = try await shared.start("serve", ["--webhook-secret-file", secretFile])
        let source = try ServiceBench.url("grid.jpg")
        let id = try await service.client.submit(
            #"{"source": "\#(source)", "seal": true, "callbackURL": "\#(receiver.url("/in"))"}"#)
        await receiver.until { !$0.requests.isEmpty }
        let seal = try await service.client.ended(id).result?["sealed"] as? [String: Any]
        let secret = try #require(seal?["secret"] as? String)
        let webhook = String(decoding: try #require(receiver.requests.first).body, as: UTF8.self)
        #expect(webhook.contains(secret))
        try await search(for: secret)
        try await service.stop()
    }

    /// Searches the files of the server, `pg_wal` among them, and a dump.
    private func search(for own: String? = nil) async throws {
        try await shared.server.psql("CHECKPOINT")
        let dump = try await RunCommand(
            PostgresServer.program("pg_dump"),
            ["-h", "127.0.0.1", "-p", "\(shared.server.port)", "-U", "postgres", "postgres"]
        ).run()
        // What is not secret is found, so the search works.
        #expect(dump.exitCode == 0 && dump.text.contains("127.0.0.1"), "\(dump.errorText)")
        let secrets =
            ["t0ken-", "h34der-", "callb4ck-", "s1gning-key", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"]
            + (own.map { [$0] } ?? [])
        for secret in secrets { #expect(!dump.text.contains(secret), "\(secret) is in the dump") }
        let found = try await RunCommand(
            "grep", ["-r", "-l", "-a"] + secrets.flatMap { ["-e", $0] } + [shared.server.dataFolder]
        ).run()
        #expect(found.text.isEmpty && found.exitCode == 1, "\(found.text)\(found.errorText)")
        let known = try await RunCommand("grep", ["-r", "-l", "-a", "127.0.0.1", shared.server.dataFolder + "/pg_wal"])
            .run()
        #expect(known.exitCode == 0, "\(known.errorText)")
    }

    // MARK: Invalid settings

    @Test(
        arguments: [
            (["worker"], ["ATTACHPREP_QUEUE": nil], "--queue postgres://"),
            (["worker"], ["ATTACHPREP_PUBLISH": nil], "--publish s3://bucket/prefix"),
            (["worker"], ["ATTACHPREP_QUEUE_KEY_FILE": nil], "--queue-key-file"),
            (["serve", "--accept-only"], ["ATTACHPREP_QUEUE": nil], "--accept-only"),
            (["worker", "--queue", "postgres://me:hunter2@127.0.0.1/queue"], [:], "must not have a password"),
            (["worker", "--queue", "redis://127.0.0.1"], [:], "for --queue;"),
            (["worker", "--queue-schema", "push-2"], [:], "--queue-schema"),
        ] as [([String], [String: String?], String)])
    func `Contradictory settings are reported before anything starts`(
        arguments: [String], changes: [String: String?], message: String
    ) async throws {
        let result = try await shared.command(arguments + ["--port", "0"], changes)
        #expect(result.exitCode == 2 && result.errorText.contains(message), "\(result.errorText)")
        #expect(!result.errorText.contains("hunter2"))
    }

    @Test func `A role that does not exist is reported at once`() async throws {
        var unknown = shared
        unknown.url = "postgres://nobody@127.0.0.1:\(shared.server.port)/postgres"
        let result = try await unknown.command(["worker", "--port", "0"])
        #expect(result.exitCode == 1 && result.errorText.contains("there is no such role"), "\(result.errorText)")
    }
}
