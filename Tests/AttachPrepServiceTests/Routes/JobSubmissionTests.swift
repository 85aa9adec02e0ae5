import AttachPrepJobs
import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import AttachPrepService

struct JobSubmissionTests {
    @Test func `A request creates a job and returns its location`() async throws {
        let service = try await LiveService()
        let response = try await service.caller.post("/v1/jobs", json: #"{"source": "https://a.example/cat.webp"}"#)
        #expect(response.status == 202)
        let id = try #require(response.object["id"] as? String)
        #expect(response.field("location") == "/v1/jobs/\(id)")
        #expect(response.object["state"] as? String == "queued")
        #expect(response.field("content-type") == "application/json")
        #expect(response.field("x-request-id") != nil)
        #expect(
            response.object.keys.sorted() == [
                "attempts", "batch", "createdAt", "dueAt", "error", "finishedAt", "id", "idempotencyKey", "request",
                "result", "startedAt", "state", "worker",
            ])
    }

    @Test func `JSON lines create a batch of jobs`() async throws {
        let service = try await LiveService()
        let lines = "{\"source\":\"https://a.example/1.png\"}\n\n{\"source\":\"https://a.example/2.png\"}\r\n"
        for type in ["application/x-ndjson", "application/jsonl; charset=utf-8"] {
            let response = try await service.caller.post("/v1/jobs", json: lines, type: type)
            #expect(response.status == 202)
            #expect((response.object["jobs"] as? [[String: Any]])?.count == 2)
        }
    }

    @Test func `A batch with invalid lines is rejected as a whole, naming each invalid line`() async throws {
        let service = try await LiveService()
        let lines = """
            {"source":"https://a.example/1.png"}
            {"source":"ftp://a.example/2.png"}

            {"sauce":"https://a.example/3.png"}
            """
        let response = try await service.caller.post("/v1/jobs", json: lines, type: "application/x-ndjson")
        // The code is that of the first invalid line.
        #expect(response.status == 422 && response.code == "source.scheme_not_allowed")
        #expect(response.field("content-type") == "application/problem+json")
        let errors = try #require(response.object["errors"] as? [[String: Any]])
        #expect(errors.map { $0["line"] as? Int } == [2, 4])
        #expect(errors.map { $0["code"] as? String } == ["source.scheme_not_allowed", "request.invalid"])
        #expect(service.store.state.withLock(\.jobs).isEmpty)
    }

    @Test func `The same idempotency key returns the same job, and with another body a conflict`() async throws {
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
    func `An invalid request gets a problem with its error code`(
        body: String, type: String, status: Int, code: String
    ) async throws {
        let service = try await LiveService()
        let response = try await service.caller.post("/v1/jobs", json: body, type: type)
        #expect(response.status == status)
        #expect(response.code == code)
        #expect(response.field("content-type") == "application/problem+json")
        #expect(response.object["type"] as? String == "urn:attachprep:problem:\(code)")
    }

    @Test func `A full queue returns Retry-After`() async throws {
        let service = try await LiveService()
        service.store.state.withLock { $0.error = AttachPrepError(.queueFull, "The queue has 100,000 jobs.") }
        let response = try await service.caller.post("/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#)
        #expect(response.status == 503 && response.code == "queue.full")
        #expect(response.field("retry-after") == "5")
        #expect(response.object["retryable"] as? Bool == true)
    }

    @Test func `A request that is too large is rejected by its declared length, before its body`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send(
            "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(LiveService.token)\r\n"
                + "Content-Type: application/json\r\nContent-Length: 70000\r\n\r\n")
        let response = try TestHTTPClient.response(await connection.receiveAll())
        #expect(response.status == 413 && response.code == "request.too_large")
        #expect(response.field("connection") == "close")
    }

    @Test func `A request without a declared length is rejected at the size limit`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        let piece = String(repeating: "x", count: 0x8000)
        try await connection.send(
            "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(LiveService.token)\r\n"
                + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<3 { try await connection.send("8000\r\n\(piece)\r\n") }
        let response = try TestHTTPClient.response(await connection.receiveAll())
        #expect(response.status == 413 && response.code == "request.too_large")
    }
}

struct JobWaitTests {
    private static let manifest = Manifest(
        id: "cat", requestDigest: "d", outcome: .rejected, source: ManifestSource(url: "https://a.example"))

    @Test func `A waiting caller receives the manifest, also of a rejected source`() async throws {
        let service = try await LiveService()
        async let response = service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#, [("Prefer", "respond-async, wait=20")])
        let id = try await firstJob(service)
        service.store.change(id) { job in
            job.state = .failed
            job.result = Self.manifest
        }
        let manifest = try await response
        #expect(manifest.status == 200)
        #expect(manifest.object["outcome"] as? String == "rejected")
        #expect(manifest.field("preference-applied") == "wait=20")
        #expect(manifest.field("location") == "/v1/jobs/\(id)")
    }

    @Test func `After the waiting time, the job is returned`() async throws {
        let service = try await LiveService()
        let response = try await service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#, [("Prefer", "wait=1")])
        #expect(response.status == 202)
        #expect(response.object["state"] as? String == "queued")
    }

    // Issue 19, item 11.
    @Test func `A caller can wait for an existing job and receives the job`() async throws {
        let service = try await LiveService()
        let id = try await service.job()
        async let response = service.caller.get("/v1/jobs/\(id)", [("Prefer", "wait=\"20\"")])
        service.store.change(id) { job in
            job.state = .failed
            job.result = Self.manifest
        }
        let job = try await response
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
            (["wait=\"\\5\""], 5), (["wait=0"], 0), (["wait=99999999999999999999"], 55),
            (["await=5"], nil), ([], nil), (["respond-async"], nil),
        ] as [([String], Int?)])
    func `The Prefer header is parsed as in RFC 7240`(fields: [String], seconds: Int?) throws {
        #expect(try PreferHeader(fields).waitSeconds == seconds)
    }

    @Test(arguments: ["wait=20s", "wait", "wait=", "wait=\"5", "wait=-1", "wait=+5", "wait=5.5"])
    func `A wait that is not whole seconds is rejected, not ignored`(field: String) async throws {
        let service = try await LiveService()
        let response = try await service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#, [("Prefer", field)])
        #expect(response.status == 400 && response.detail?.contains("such as wait=20") == true)
    }

    @Test func `Waiting ends when the service stops`() async throws {
        let service = try await LiveService()
        async let response = service.caller.post(
            "/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#, [("Prefer", "wait=50")])
        _ = try await firstJob(service)
        await service.beginToStop()
        #expect(try await response.status == 202)
        try await service.ended()
    }

    /// Waits for the first job.
    private func firstJob(_ service: LiveService) async throws -> JobID {
        while true {
            if let id = service.store.state.withLock({ $0.jobs.keys.first }) { return id }
            await Task.yield()
        }
    }
}

struct PayloadSubmissionTests {
    private func submission(_ recipients: String) throws -> PayloadSubmission {
        let payload = #"{"aps": {"mutable-content": 1}, "attach": "https://a.example/cat.jpg"}"#
        return try PayloadSubmission(Array(#"{"payload": \#(payload), "recipients": \#(recipients)}"#.utf8))
    }

    @Test(arguments: [("225", 225), ("225.0", 225), ("2e3", 2_000), ("null", 1)])
    func `Recipients can be any JSON notation of a whole number`(text: String, count: Int) throws {
        #expect(try submission(text).recipients == count)
    }

    @Test(arguments: ["0", "-1", "2.5", "1e300", "\"2\"", "true"])
    func `An invalid number of recipients is rejected`(text: String) {
        let error = #expect(throws: AttachPrepError.self) { try submission(text) }
        #expect(error?.code == .requestInvalid)
    }
}
