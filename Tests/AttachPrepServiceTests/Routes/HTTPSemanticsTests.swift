import Foundation
import Testing

struct HTTPSemanticsTests {
    @Test(arguments: [
        ("PUT", "/v1/jobs", "GET, HEAD, POST"), ("POST", "/healthz", "GET, HEAD"),
        ("TRACE", "/v1/jobs/0193/retry", "POST"), ("GET", "/v1/jobs/purge", "POST"), ("PROPFIND", "/", "GET, HEAD"),
    ])
    func `An unsupported method gets the allowed ones`(
        method: String, path: String, allowed: String
    ) async throws {
        let response = try await LiveService().caller.send(method, path)
        #expect(response.status == 405 && response.code == "request.invalid")
        #expect(response.field("allow") == allowed)
    }

    @Test(arguments: [
        "/v1/jobs", "/v1/webhooks", "/healthz", "/readyz", "/metrics", "/openapi.json", "/", "/v1/events",
    ])
    func `HEAD is supported wherever GET is`(path: String) async throws {
        let response = try await LiveService().caller.send("HEAD", path)
        #expect(response.status == 200 && response.body.isEmpty)
    }

    @Test func `A media type that the client does not accept is rejected`() async throws {
        let service = try await LiveService()
        let status = { (accept: String) in try await service.caller.get("/v1/jobs", [("Accept", accept)]).status
        }
        #expect(try await status("text/html") == 406)
        #expect(try await status("application/json;q=0, */*") == 406)
        #expect(try await status("text/html, application/*;q=0.1") == 200)
    }

    @Test func `A service that is not ready returns the reasons`() async throws {
        let service = try await LiveService(reasons: ["The disk is full."])
        let response = try await service.anonymous.get("/readyz")
        #expect(response.status == 503)
        #expect(response.object["reasons"] as? [String] == ["The disk is full."])
        #expect(try await service.anonymous.get("/healthz").status == 200)
    }

    @Test func `Library errors are not included in responses`() async throws {
        let service = try await LiveService()
        service.store.state.withLock {
            $0.error = .init(.queueUnavailable, "The queue is not available.", detail: "SQLITE_IOERR /var/lib/secret")
        }
        let response = try await service.caller.get("/v1/jobs")
        #expect(response.status == 503 && response.code == "queue.unavailable" && !response.text.contains("SQLITE"))
        #expect(response.field("retry-after") != nil)
        let requestID = try #require(response.field("x-request-id"))
        #expect(response.object["instance"] as? String == "urn:attachprep:request:\(requestID)")
    }

    @Test func `Webhooks are listed without bodies and without secrets of their URLs`() async throws {
        let service = try await LiveService()
        let job = try await service.job()
        service.store.state.withLock {
            $0.webhooks = [
                .init(
                    id: .make(), job: job,
                    notice: .init(
                        url: "https://user:pass@a.example/hook?token=s3cret", event: .jobDead, body: #"{"b0dy":1}"#),
                    state: .givenUp, attempts: 10, createdAt: .now)
            ]
        }
        let response = try await service.caller.get("/v1/webhooks?state=givenUp&job=\(job)")
        let webhook = try #require((response.object["webhooks"] as? [[String: Any]])?.first)
        #expect(webhook["type"] as? String == "job.dead" && webhook["attempts"] as? Int == 10)
        #expect(!response.text.contains("s3cret") && !response.text.contains("pass") && !response.text.contains("b0dy"))
        #expect(try await service.caller.get("/v1/webhooks?state=delivered").text.contains("\"webhooks\":[]"))
        let replayed = try await service.caller.post("/v1/webhooks/replay", json: #"{"states": ["givenUp"]}"#)
        #expect(replayed.status == 200 && replayed.object["replayed"] as? Int == 1)
    }

    @Test(arguments: ["{}", #"{"ids": ["x"]}"#, #"{"states": ["lost"]}"#])
    func `A replay without a valid filter is rejected`(body: String) async throws {
        let response = try await LiveService().caller.post("/v1/webhooks/replay", json: body)
        #expect(response.status == 400 && response.code == "request.invalid")
    }
}
