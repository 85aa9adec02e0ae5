import Foundation
import Testing

struct MannersTests {
    @Test(arguments: [
        ("PUT", "/v1/jobs", "GET, HEAD, POST"), ("POST", "/healthz", "GET, HEAD"),
        ("TRACE", "/v1/jobs/0193/retry", "POST"), ("GET", "/v1/jobs/purge", "POST"), ("PROPFIND", "/", "GET, HEAD"),
    ])
    func `a method that a path does not take is told which it takes`(
        method: String, path: String, allowed: String
    ) async throws {
        let answer = try await LiveService().caller.send(method, path)
        #expect(answer.status == 405 && answer.code == "request.invalid")
        #expect(answer.field("allow") == allowed)
    }

    @Test(arguments: [
        "/v1/jobs", "/v1/webhooks", "/healthz", "/readyz", "/metrics", "/openapi.json", "/", "/v1/events",
    ])
    func `HEAD works where GET does`(path: String) async throws {
        let answer = try await LiveService().caller.send("HEAD", path)
        #expect(answer.status == 200 && answer.body.isEmpty)
    }

    @Test func `an answer that is not wanted is not given`() async throws {
        let service = try await LiveService()
        let status = { (accept: String) in try await service.caller.get("/v1/jobs", [("Accept", accept)]).status }
        #expect(try await status("text/html") == 406)
        #expect(try await status("application/json;q=0, */*") == 406)
        #expect(try await status("text/html, application/*;q=0.1") == 200)
    }

    @Test func `a service that cannot work says why`() async throws {
        let service = try await LiveService(reasons: ["The disk is full."])
        let answer = try await service.stranger.get("/readyz")
        #expect(answer.status == 503)
        #expect(answer.object["reasons"] as? [String] == ["The disk is full."])
        #expect(try await service.stranger.get("/healthz").status == 200)
    }

    @Test func `what a library says goes to the log alone`() async throws {
        let service = try await LiveService()
        service.store.state.withLock {
            $0.fault = .init(.queueUnavailable, "The queue is not available.", detail: "SQLITE_IOERR /var/lib/secret")
        }
        let answer = try await service.caller.get("/v1/jobs")
        #expect(answer.status == 503 && answer.code == "queue.unavailable" && !answer.text.contains("SQLITE"))
        #expect(answer.field("retry-after") != nil)
        #expect(answer.object["instance"] as? String == "urn:attachprep:request:\(answer.field("x-request-id") ?? "")")
    }

    @Test func `webhooks are listed without their bodies and without what is secret in their addresses`() async throws {
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
        let answer = try await service.caller.get("/v1/webhooks?state=givenUp&job=\(job)")
        let webhook = try #require((answer.object["webhooks"] as? [[String: Any]])?.first)
        #expect(webhook["type"] as? String == "job.dead" && webhook["attempts"] as? Int == 10)
        #expect(!answer.text.contains("s3cret") && !answer.text.contains("pass") && !answer.text.contains("b0dy"))
        #expect(try await service.caller.get("/v1/webhooks?state=delivered").text.contains("\"webhooks\":[]"))
        let replayed = try await service.caller.post("/v1/webhooks/replay", json: #"{"states": ["givenUp"]}"#)
        #expect(replayed.status == 200 && replayed.object["replayed"] as? Int == 1)
    }

    @Test(arguments: ["{}", #"{"ids": ["x"]}"#, #"{"states": ["lost"]}"#])
    func `a replay that names nothing known is refused`(body: String) async throws {
        let answer = try await LiveService().caller.post("/v1/webhooks/replay", json: body)
        #expect(answer.status == 400 && answer.code == "request.invalid")
    }
}
