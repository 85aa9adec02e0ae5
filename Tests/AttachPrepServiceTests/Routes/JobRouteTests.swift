import AttachPrepJobs
import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import AttachPrepService

struct JobRouteTests {
    // Issue 19, item 7.
    @Test func `A batch has an ID, which is the same when it is sent again`() async throws {
        let service = try await LiveService()
        let lines = (1...2).map { #"{"source": "https://a.example/\#($0).png"}"# }.joined(separator: "\n")
        var batches: [String?] = []
        for _ in 0..<2 {
            let response = try await service.caller.post(
                "/v1/jobs", json: lines, type: "application/x-ndjson", [("Idempotency-Key", "k")])
            batches.append(response.object["batch"] as? String)
        }
        let batch = try #require(batches[0])
        #expect(batches[1] == batch && JobID(batch) != nil)
        let origins = service.store.state.withLock { $0.jobs.values.map(\.origin) }
        #expect(origins.count == 2 && origins.allSatisfy { $0.batch == batch && $0.idempotencyKey == "k" })
        #expect(origins.allSatisfy { $0.caller?.count == 32 })
    }

    // Issue 19, item 11.
    @Test func `A request with a forbidden header is rejected without a job`() async throws {
        let service = try await LiveService()
        let response = try await service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png", "headers": {"Host": "b.example"}}"#)
        #expect(response.status == 400 && response.code == "request.invalid" && response.text.contains("Host"))
        #expect(service.store.state.withLock(\.jobs).isEmpty)
    }

    @Test func `A job is returned without its headers and secrets`() async throws {
        let service = try await LiveService()
        let sent = try await service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png?token=s3cret", "headers": {"Cookie": "s3cret"}}"#)
        let id = try #require(sent.object["id"] as? String)
        let response = try await service.caller.get("/v1/jobs/\(id)")
        #expect(response.status == 200)
        #expect(!response.text.contains("s3cret") && !sent.text.contains("s3cret"))
    }

    @Test(arguments: ["/v1/jobs/00000000-0000-7000-8000-000000000000", "/v1/jobs/x", "/v1/jobs/x/log", "/nothing"])
    func `An unknown job or path returns 404`(path: String) async throws {
        let response = try await LiveService().caller.get(path)
        #expect(response.status == 404 && response.code == "request.not_found")
    }

    @Test func `Jobs are listed in pages, and the last page has no cursor`() async throws {
        let service = try await LiveService()
        var ids: Set<String> = []
        for number in 0..<5 { ids.insert(try await service.job("https://a.example/\(number).png").text) }
        var seen: [String] = []
        var cursor = ""
        repeat {
            let page = try await service.caller.get("/v1/jobs?limit=2\(cursor)")
            seen += (page.object["jobs"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
            cursor = (page.object["next"] as? String).map { "&cursor=\($0)" } ?? ""
        } while !cursor.isEmpty
        #expect(seen.count == 5 && Set(seen) == ids)
    }

    @Test func `States can be repeated or separated by commas`() async throws {
        let service = try await LiveService()
        let (first, second) = (try await service.job(), try await service.job())
        _ = try await service.job()
        service.store.change(first) { $0.state = .dead }
        service.store.change(second) { $0.state = .failed }
        for query in ["state=dead,failed", "state=dead&state=failed", "state=dead%2Cfailed"] {
            let response = try await service.caller.get("/v1/jobs?\(query)")
            #expect((response.object["jobs"] as? [Any])?.count == 2)
        }
    }

    @Test(arguments: ["limit=0", "limit=201", "limit=x", "limit=1&limit=2", "state=gone", "cursor=x", "color=red"])
    func `An invalid query is rejected`(query: String) async throws {
        let response = try await LiveService().caller.get("/v1/jobs?\(query)")
        #expect(response.status == 400 && response.code == "request.invalid")
    }

    @Test func `A job can be cancelled once`() async throws {
        let service = try await LiveService()
        let id = try await service.job()
        let first = try await service.caller.send("DELETE", "/v1/jobs/\(id)")
        let second = try await service.caller.send("DELETE", "/v1/jobs/\(id)")
        #expect(first.status == 202 && first.object["state"] as? String == "cancelled")
        #expect(second.status == 409 && second.code == "request.conflict")
    }

    @Test func `Only a finished job can be retried`() async throws {
        let service = try await LiveService()
        let id = try await service.job()
        #expect(try await service.caller.send("POST", "/v1/jobs/\(id)/retry").status == 409)
        service.store.change(id) { $0.state = .dead }
        let response = try await service.caller.send("POST", "/v1/jobs/\(id)/retry")
        #expect(response.status == 202 && response.object["state"] as? String == "queued")
    }

    @Test func `A job's log is returned in order`() async throws {
        let service = try await LiveService()
        let id = try await service.job()
        let lines = ["fetching", "rendering"].map { JobLogLine(job: id, date: .now, level: "info", text: $0) }
        try await service.store.append(lines)
        let response = try await service.caller.get("/v1/jobs/\(id)/log")
        let shown = try #require(response.object["lines"] as? [[String: String]])
        #expect(shown.map { $0["text"] } == ["fetching", "rendering"])
    }

    @Test func `Purging deletes only finished jobs`() async throws {
        let service = try await LiveService()
        let (dead, queued) = (try await service.job(), try await service.job())
        service.store.change(dead) { $0.state = .dead }
        let response = try await service.caller.post("/v1/jobs/purge", json: #"{"states": ["dead", "failed"]}"#)
        #expect(response.status == 200 && response.object["purged"] as? Int == 1)
        #expect(service.store.state.withLock(\.jobs.keys).contains(queued))
    }

    @Test func `Errors can be repeated or separated by commas`() async throws {
        let service = try await LiveService()
        for code in [ErrorCode.mediaCorrupt, .downloadTimeout, .sourceNotFound] {
            service.store.change(try await service.job()) { job in
                job.state = .failed
                job.error = ManifestError(AttachPrepError(code, "It did not work."))
            }
        }
        for query in ["error=media.corrupt,download.timeout", "error=media.corrupt&error=download.timeout"] {
            let response = try await service.caller.get("/v1/jobs?\(query)")
            #expect((response.object["jobs"] as? [Any])?.count == 2)
        }
        #expect(try await service.caller.get("/v1/jobs?error=media.gone").status == 400)
    }

    @Test func `Jobs are listed by kind and time`() async throws {
        let service = try await LiveService()
        _ = try await service.job()
        for (query, count) in [
            ("createdAfter=2026-01-01T00:00:00Z", 1), ("createdBefore=2026-01-01T00:00:00Z", 0), ("kind=movie", 0),
        ] {
            let page = try await service.caller.get("/v1/jobs?\(query)")
            #expect(page.status == 200 && (page.object["jobs"] as? [Any])?.count == count, "\(query)")
        }
        for query in ["createdAfter=yesterday", "kind=picture", "worker=", "createdBefore="] {
            let page = try await service.caller.get("/v1/jobs?\(query)")
            #expect(page.status == 400 && page.code == "request.invalid", "\(query)")
        }
    }

    @Test(arguments: [
        (#"{"states": ["dead"]}"#, 2), (#"{"states": ["dead"], "error": "media.corrupt"}"#, 1),
        (#"{"error": ["media.corrupt", "download.timeout"]}"#, 2), (#"{"error": "cancelled"}"#, 0),
    ])
    func `Finished jobs are retried together by a filter`(body: String, count: Int) async throws {
        let service = try await LiveService()
        for code in [ErrorCode.mediaCorrupt, .downloadTimeout] {
            service.store.change(try await service.job()) { job in
                job.state = .dead
                job.error = ManifestError(AttachPrepError(code, "It did not work."))
            }
        }
        let response = try await service.caller.post("/v1/jobs/retry", json: body)
        #expect(response.status == 200 && response.object["retried"] as? Int == count)
        #expect(response.object["left"] as? Int == 0)
    }

    @Test(arguments: [
        "{}", #"{"states": ["succeeded"]}"#, #"{"states": ["queued"]}"#, #"{"error": "media.gone"}"#, "[]",
        #"{"search": ""}"#,
    ])
    func `A retry without a filter or of jobs that cannot be retried is rejected`(body: String) async throws {
        let response = try await LiveService().caller.post("/v1/jobs/retry", json: body)
        #expect(response.status == 400 && response.code == "request.invalid")
    }

    @Test(arguments: ["{}", #"{"states": ["queued"]}"#, #"{"createdBefore": "yesterday"}"#, #"{"all": true}"#, "[]"])
    func `A purge without a filter or of unfinished jobs is rejected`(body: String) async throws {
        let response = try await LiveService().caller.post("/v1/jobs/purge", json: body)
        #expect(response.status == 400 && response.code == "request.invalid")
    }
}
