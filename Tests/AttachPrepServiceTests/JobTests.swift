import AttachPrepJobs
import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import AttachPrepService

struct JobSubmissionTests {
    @Test func `a request becomes a job, and the answer says where it is`() async throws {
        let service = try await LiveService()
        let answer = try await service.caller.post("/v1/jobs", json: #"{"source": "https://a.example/cat.webp"}"#)
        #expect(answer.status == 202)
        let id = try #require(answer.object["id"] as? String)
        #expect(answer.field("location") == "/v1/jobs/\(id)")
        #expect(answer.object["state"] as? String == "queued")
        #expect(answer.field("content-type") == "application/json")
        #expect(answer.field("x-request-id") != nil)
        #expect(
            answer.object.keys.sorted() == [
                "attempts", "createdAt", "error", "finishedAt", "id", "request", "result", "startedAt", "state",
            ])
    }

    @Test func `lines become jobs, all of them at once`() async throws {
        let service = try await LiveService()
        let lines = "{\"source\":\"https://a.example/1.png\"}\n\n{\"source\":\"https://a.example/2.png\"}\r\n"
        for type in ["application/x-ndjson", "application/jsonl; charset=utf-8"] {
            let answer = try await service.caller.post("/v1/jobs", json: lines, type: type)
            #expect(answer.status == 202)
            #expect((answer.object["jobs"] as? [[String: Any]])?.count == 2)
        }
    }

    @Test func `a batch with bad lines is refused as a whole, and each bad line named`() async throws {
        let service = try await LiveService()
        let lines = """
            {"source":"https://a.example/1.png"}
            {"source":"ftp://a.example/2.png"}

            {"sauce":"https://a.example/3.png"}
            """
        let answer = try await service.caller.post("/v1/jobs", json: lines, type: "application/x-ndjson")
        // The code is that of the first one.
        #expect(answer.status == 422 && answer.code == "source.scheme_not_allowed")
        #expect(answer.field("content-type") == "application/problem+json")
        let errors = try #require(answer.object["errors"] as? [[String: Any]])
        #expect(errors.map { $0["line"] as? Int } == [2, 4])
        #expect(errors.map { $0["code"] as? String } == ["source.scheme_not_allowed", "request.invalid"])
        #expect(service.store.state.withLock(\.jobs).isEmpty)
    }

    @Test func `the same key and body give the same job, another body a conflict`() async throws {
        let service = try await LiveService()
        let send = { (source: String) in
            try await service.caller.post(
                "/v1/jobs", json: #"{"source": "\#(source)"}"#, [("Idempotency-Key", "\"order-17\"")])
        }
        let first = try await send("https://a.example/1.png")
        let second = try await send("https://a.example/1.png")
        let other = try await send("https://a.example/2.png")
        #expect(first.object["id"] as? String == second.object["id"] as? String)
        #expect(second.field("idempotency-replayed") == "true")
        #expect(other.status == 409 && other.code == "request.conflict")
    }

    @Test(arguments: [
        (#"{"source": 7}"#, "application/json", 400, "request.invalid"),
        (#"{"source": "file:///etc/passwd"}"#, "application/json", 422, "source.scheme_not_allowed"),
        (#"{"source": "upload:00000000000000000000000000000000"}"#, "application/json", 422, "source.not_found"),
        ("{}", "text/plain", 415, "request.invalid"),
        ("", "application/x-ndjson", 400, "request.invalid"),
        (
            #"{"source": "https://a.example", "options": {"crop": "smart:0:1"}}"#, "application/json", 422,
            "options.invalid_clipping_rect"
        ),
    ])
    func `what cannot be meant is a problem with its code`(
        body: String, type: String, status: Int, code: String
    ) async throws {
        let service = try await LiveService()
        let answer = try await service.caller.post("/v1/jobs", json: body, type: type)
        #expect(answer.status == status)
        #expect(answer.code == code)
        #expect(answer.field("content-type") == "application/problem+json")
        #expect(answer.object["type"] as? String == "urn:attachprep:problem:\(code)")
    }

    @Test func `a full queue says when to come back`() async throws {
        let service = try await LiveService()
        service.store.state.withLock { $0.fault = AttachPrepError(.queueFull, "The queue has 100,000 jobs.") }
        let answer = try await service.caller.post("/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#)
        #expect(answer.status == 503 && answer.code == "queue.full")
        #expect(answer.field("retry-after") == "5")
        #expect(answer.object["retryable"] as? Bool == true)
    }

    @Test func `a request that is too large is refused by its declared length, before its body`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send(
            "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(LiveService.token)\r\n"
                + "Content-Type: application/json\r\nContent-Length: 70000\r\n\r\n")
        let answer = try HTTPCaller.answer(await connection.receiveAll())
        #expect(answer.status == 413 && answer.code == "request.too_large")
        #expect(answer.field("connection") == "close")
    }

    @Test func `a request without a declared length is refused when it grows too large`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        let piece = String(repeating: "x", count: 0x8000)
        try await connection.send(
            "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(LiveService.token)\r\n"
                + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<3 { try await connection.send("8000\r\n\(piece)\r\n") }
        let answer = try HTTPCaller.answer(await connection.receiveAll())
        #expect(answer.status == 413 && answer.code == "request.too_large")
    }
}

struct JobWaitTests {
    private static let manifest = Manifest(
        id: "cat", requestDigest: "d", outcome: .rejected, source: ManifestSource(url: "https://a.example"))

    @Test func `a caller that waits gets the manifest, a rejected one too`() async throws {
        let service = try await LiveService()
        async let answer = service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#, [("Prefer", "respond-async, wait=20")])
        let id = try await firstJob(service)
        service.store.change(id) { job in
            job.state = .failed
            job.result = Self.manifest
        }
        let manifest = try await answer
        #expect(manifest.status == 200)
        #expect(manifest.object["outcome"] as? String == "rejected")
        #expect(manifest.field("preference-applied") == "wait=20")
        #expect(manifest.field("location") == "/v1/jobs/\(id)")
    }

    @Test func `when it takes longer, the job itself is the answer`() async throws {
        let service = try await LiveService()
        let answer = try await service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#, [("Prefer", "wait=1")])
        #expect(answer.status == 202)
        #expect(answer.object["state"] as? String == "queued")
    }

    // Issue 19, item 11.
    @Test func `a caller waits for a job that is there as well, and gets the job`() async throws {
        let service = try await LiveService()
        let id = try await service.job()
        async let answer = service.caller.get("/v1/jobs/\(id)", [("Prefer", "wait=\"20\"")])
        service.store.change(id) { job in
            job.state = .failed
            job.result = Self.manifest
        }
        let job = try await answer
        #expect(job.status == 200 && job.object["state"] as? String == "failed")
        #expect(job.field("preference-applied") == "wait=20")
        let waiting = try await service.job()
        let late = try await service.caller.get("/v1/jobs/\(waiting)", [("Prefer", "wait=1")])
        #expect(late.status == 200 && late.object["state"] as? String == "queued")
    }

    @Test(
        arguments: [
            (["wait=5"], 5), (["wait=\"5\""], 5), (["wait = \"5\" ; a=1"], 5), (["respond-async, wait=7"], 7),
            (["foo=\"a, wait=1\"", "WAIT=9"], 9), (["foo=\"\\\", wait=1\", wait=3"], 3), (["wait=2, wait=4"], 2),
            (["wait=\"\\5\""], 5), (["wait=0"], 0), (["wait=99999999999999999999"], 55), (["wait"], nil),
            (["wait="], nil), (["wait=\"5"], nil), (["wait=-1"], nil), (["wait=+5"], nil), (["wait=5.5"], nil),
            (["await=5"], nil), ([], nil),
        ] as [([String], Int?)])
    func `a preference is read as RFC 7240 writes it`(fields: [String], seconds: Int?) {
        #expect(PreferHeader(fields).waitSeconds == seconds)
    }

    @Test func `nobody waits for a service that stops`() async throws {
        let service = try await LiveService()
        async let answer = service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#, [("Prefer", "wait=50")])
        _ = try await firstJob(service)
        await service.beginToStop()
        #expect(try await answer.status == 202)
        try await service.ended()
    }

    /// The one job, as soon as it is there.
    private func firstJob(_ service: LiveService) async throws -> JobID {
        while true {
            if let id = service.store.state.withLock({ $0.jobs.keys.first }) { return id }
            await Task.yield()
        }
    }
}

struct JobRouteTests {
    // Issue 19, item 7.
    @Test func `a batch has a name, which stays the same when it is sent again`() async throws {
        let service = try await LiveService()
        let lines = (1...2).map { #"{"source": "https://a.example/\#($0).png"}"# }.joined(separator: "\n")
        var batches: [String?] = []
        for _ in 0..<2 {
            let answer = try await service.caller.post(
                "/v1/jobs", json: lines, type: "application/x-ndjson", [("Idempotency-Key", "k")])
            batches.append(answer.object["batch"] as? String)
        }
        let batch = try #require(batches[0])
        #expect(batches[1] == batch && JobID(batch) != nil)
        let origins = service.store.state.withLock { $0.jobs.values.map(\.origin) }
        #expect(origins == Array(repeating: JobOrigin(batch: batch, idempotencyKey: "k"), count: 2))
    }

    // Issue 19, item 11.
    @Test func `a request with a header that cannot be sent is refused, and is no job`() async throws {
        let service = try await LiveService()
        let answer = try await service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png", "headers": {"Host": "b.example"}}"#)
        #expect(answer.status == 400 && answer.code == "request.invalid" && answer.text.contains("Host"))
        #expect(service.store.state.withLock(\.jobs).isEmpty)
    }

    @Test func `a job is shown, and its headers are not`() async throws {
        let service = try await LiveService()
        let sent = try await service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png?token=s3cret", "headers": {"Cookie": "s3cret"}}"#)
        let id = try #require(sent.object["id"] as? String)
        let answer = try await service.caller.get("/v1/jobs/\(id)")
        #expect(answer.status == 200)
        #expect(!answer.text.contains("s3cret") && !sent.text.contains("s3cret"))
    }

    @Test(arguments: ["/v1/jobs/00000000-0000-7000-8000-000000000000", "/v1/jobs/x", "/v1/jobs/x/log", "/nothing"])
    func `what is not there is 404`(path: String) async throws {
        let answer = try await LiveService().caller.get(path)
        #expect(answer.status == 404 && answer.code == "request.not_found")
    }

    @Test func `jobs come in pages, and the last page has no next one`() async throws {
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

    @Test func `states may be repeated or separated by commas`() async throws {
        let service = try await LiveService()
        let (first, second) = (try await service.job(), try await service.job())
        _ = try await service.job()
        service.store.change(first) { $0.state = .dead }
        service.store.change(second) { $0.state = .failed }
        for query in ["state=dead,failed", "state=dead&state=failed", "state=dead%2Cfailed"] {
            let answer = try await service.caller.get("/v1/jobs?\(query)")
            #expect((answer.object["jobs"] as? [Any])?.count == 2)
        }
    }

    @Test(arguments: ["limit=0", "limit=201", "limit=x", "limit=1&limit=2", "state=gone", "cursor=x", "colour=red"])
    func `a query that is not understood is refused`(query: String) async throws {
        let answer = try await LiveService().caller.get("/v1/jobs?\(query)")
        #expect(answer.status == 400 && answer.code == "request.invalid")
    }

    @Test func `a job is cancelled once`() async throws {
        let service = try await LiveService()
        let id = try await service.job()
        let first = try await service.caller.send("DELETE", "/v1/jobs/\(id)")
        let second = try await service.caller.send("DELETE", "/v1/jobs/\(id)")
        #expect(first.status == 202 && first.object["state"] as? String == "cancelled")
        #expect(second.status == 409 && second.code == "request.conflict")
    }

    @Test func `a job that ended is asked to run again, another is not`() async throws {
        let service = try await LiveService()
        let id = try await service.job()
        #expect(try await service.caller.send("POST", "/v1/jobs/\(id)/retry").status == 409)
        service.store.change(id) { $0.state = .dead }
        let answer = try await service.caller.send("POST", "/v1/jobs/\(id)/retry")
        #expect(answer.status == 202 && answer.object["state"] as? String == "queued")
    }

    @Test func `a job's log is shown in its order`() async throws {
        let service = try await LiveService()
        let id = try await service.job()
        let lines = ["fetching", "rendering"].map { JobLogLine(job: id, date: .now, level: "info", text: $0) }
        try await service.store.append(lines)
        let answer = try await service.caller.get("/v1/jobs/\(id)/log")
        let shown = try #require(answer.object["lines"] as? [[String: String]])
        #expect(shown.map { $0["text"] } == ["fetching", "rendering"])
    }

    @Test func `finished jobs are purged, others never`() async throws {
        let service = try await LiveService()
        let (dead, queued) = (try await service.job(), try await service.job())
        service.store.change(dead) { $0.state = .dead }
        let answer = try await service.caller.post("/v1/jobs/purge", json: #"{"states": ["dead", "failed"]}"#)
        #expect(answer.status == 200 && answer.object["purged"] as? Int == 1)
        #expect(service.store.state.withLock(\.jobs.keys).contains(queued))
    }

    @Test func `errors may be repeated or separated by commas`() async throws {
        let service = try await LiveService()
        for code in [ErrorCode.mediaCorrupt, .downloadTimeout, .sourceNotFound] {
            service.store.change(try await service.job()) { job in
                job.state = .failed
                job.error = ManifestError(AttachPrepError(code, "It did not work."))
            }
        }
        for query in ["error=media.corrupt,download.timeout", "error=media.corrupt&error=download.timeout"] {
            let answer = try await service.caller.get("/v1/jobs?\(query)")
            #expect((answer.object["jobs"] as? [Any])?.count == 2)
        }
        #expect(try await service.caller.get("/v1/jobs?error=media.gone").status == 400)
    }

    @Test(arguments: [
        (#"{"states": ["dead"]}"#, 2), (#"{"states": ["dead"], "error": "media.corrupt"}"#, 1),
        (#"{"error": ["media.corrupt", "download.timeout"]}"#, 2), (#"{"error": "cancelled"}"#, 0),
    ])
    func `jobs that ended are run again together`(body: String, count: Int) async throws {
        let service = try await LiveService()
        for code in [ErrorCode.mediaCorrupt, .downloadTimeout] {
            service.store.change(try await service.job()) { job in
                job.state = .dead
                job.error = ManifestError(AttachPrepError(code, "It did not work."))
            }
        }
        let answer = try await service.caller.post("/v1/jobs/retry", json: body)
        #expect(answer.status == 200 && answer.object["retried"] as? Int == count)
    }

    @Test(arguments: [
        "{}", #"{"states": ["succeeded"]}"#, #"{"states": ["queued"]}"#, #"{"error": "media.gone"}"#, "[]",
        #"{"search": ""}"#,
    ])
    func `a retry that names nothing, or what cannot run again, is refused`(body: String) async throws {
        let answer = try await LiveService().caller.post("/v1/jobs/retry", json: body)
        #expect(answer.status == 400 && answer.code == "request.invalid")
    }

    @Test(arguments: ["{}", #"{"states": ["queued"]}"#, #"{"createdBefore": "yesterday"}"#, #"{"all": true}"#, "[]"])
    func `a purge that names nothing, or what is not finished, is refused`(body: String) async throws {
        let answer = try await LiveService().caller.post("/v1/jobs/purge", json: body)
        #expect(answer.status == 400 && answer.code == "request.invalid")
    }
}
