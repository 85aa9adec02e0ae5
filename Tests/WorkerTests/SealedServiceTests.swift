import Foundation
import TestSupport
import Testing

/// Sealed media of the real service: where the secret and the plaintext are, and where they are not.
@Suite(.timeLimit(.minutes(4))) struct SealedServiceTests {
    private static let signing = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    private func sealedSecret(_ manifest: [String: Any]?) -> String? {
        (manifest?["sealed"] as? [String: Any])?["secret"] as? String
    }

    private func opened(_ manifest: [String: Any], _ name: String) async throws -> SealedFileDecoder.Opened {
        let file = try #require(manifest[name] as? [String: Any], "\(manifest)")
        let data = try await ServiceClient(url: "").get(try #require(file["url"] as? String))
        #expect(data.status == 200 && data.header("content-type") == "application/octet-stream")
        #expect(data.header("content-disposition")?.contains("jpg") == false)
        return try await SealedFileDecoder.open(data.body, secret: #require(sealedSecret(manifest)), as: name)
    }

    /// The files below the data folder that contain a text.
    private func files(with text: Data) throws -> [String] {
        try bench.folder.contents().filter { path in
            guard let data = FileManager.default.contents(atPath: bench.folder.path(path)) else { return false }
            return data.range(of: text) != nil
        }
    }

    @Test func `The caller opens attachment and thumbnail with the secret of the result`() async throws {
        let service = try await bench.start()
        let body = #"{"source": "\#(try ServiceBench.url("grid.jpg"))", "seal": true}"#
        let response = try await service.client.send("POST", "/v1/jobs", body: body, headers: ["Prefer": "wait=40"])
        let manifest = try response.json()
        let attachment = try await opened(manifest, "attachment")
        #expect(attachment.content == (try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))))
        #expect(attachment.type == "image/jpeg" && attachment.name == "attachment.jpg")
        #expect(try await opened(manifest, "thumbnail").type == "image/jpeg")
        // The files of the data folder are the sealed ones.
        #expect(try bench.contents().count == 2 && bench.leftovers().isEmpty)
        let again = try await service.client.send("POST", "/v1/jobs", body: body, headers: ["Prefer": "wait=40"]).json()
        #expect(sealedSecret(again) != nil && sealedSecret(again) != sealedSecret(manifest))
        #expect(try bench.contents().count == 4)
        try await service.stop()
    }

    @Test func `The secret is in the result and its webhook, and nowhere else`() async throws {
        let receiver = try LoopbackServer()
        receiver.serve("/in", inTurn: [.status(503), .status(204)])
        let collector = try TraceCollector()
        let service = try await bench.start(
            ["--allow-callback-network", "127.0.0.0/8", "--log-level", "debug"],
            environment: [
                "ATTACHPREP_WEBHOOK_SECRETS": Self.signing, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
                "OTEL_BSP_SCHEDULE_DELAY": "50",
            ])
        let source = try ServiceBench.url("grid.jpg")
        let id = try await service.client.submit(
            #"{"source": "\#(source)", "seal": true, "callbackURL": "\#(receiver.url("/in"))", "#
                + #""payload": {"aps": {"alert": "x"}}}"#)
        await receiver.until { !$0.requests.isEmpty }
        let result = try #require(try await service.client.ended(id).result)
        let secret = try #require(sealedSecret(result))
        await receiver.until { $0.requests.count == 2 }
        for request in receiver.requests {
            let text = String(decoding: request.body, as: UTF8.self)
            // In the manifest, and in the payload that is sent on.
            #expect(text.components(separatedBy: secret).count == 3, "\(text)")
        }
        try await pollUntil("the webhook is delivered") {
            try await service.client.get("/metrics").text.contains(#"attachprep_outbox_webhooks{state="delivered"} 1"#)
        }
        // The receiver has it: it is not given again.
        #expect(sealedSecret(try await service.client.ended(id).result) == nil)
        let attachment = try #require(result["attachment"] as? [String: Any])
        #expect(try await service.client.get(try #require(attachment["url"] as? String)).status == 200)
        for path in ["/v1/jobs", "/v1/webhooks", "/v1/overview", "/metrics", "/v1/jobs/\(id)/log", "/v1/jobs/\(id)"] {
            let response = try await service.client.get(path)
            #expect(response.status == 200 && !response.text.contains(secret), "\(path)")
        }
        let log = try await service.stop()
        #expect(!log.errorText.contains(secret) && !log.text.contains(secret))
        #expect(log.errorText.contains(id))
        for body in collector.bodies { #expect(body.range(of: Data(secret.utf8)) == nil) }
        #expect(try files(with: Data(secret.utf8)) == [])
        // The search works: the job itself is found.
        #expect(try !files(with: Data(id.utf8)).isEmpty)
        let plaintext = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        #expect(try files(with: plaintext.prefix(2_000)) == [])
    }

    @Test func `Events, failures and quarantine tell no secret`() async throws {
        let service = try await bench.start()
        let failed = try await service.client.submit(
            #"{"source": "\#(try ServiceBench.url("truncated.jpg"))", "seal": true}"#)
        let job = try await service.client.ended(failed)
        #expect(job.state == "failed" && sealedSecret(job.result) == nil)
        let id = try await service.client.submit(
            #"{"source": "\#(try ServiceBench.url("grid.jpg"))", "seal": true}"#)
        let secret = try #require(sealedSecret(try await service.client.ended(id).result))
        let events = try await RunCommand("curl", ["-sN", "--max-time", "2", "\(service.url)/v1/events"]).run()
        #expect(events.text.contains("event:") && !events.text.contains(secret), "\(events.text)")
        try await service.stop()
    }

    @Test func `Only the caller of a job learns the secret of its result`() async throws {
        let tokens = """
            app-token-of-the-test-0123456789 name=app roles=submit,read
            viewer-token-of-the-test-0123456 name=viewer roles=read
            """
        let service = try await bench.start(["--token-file", try bench.folder.write(tokens, to: "tokens")])
        var (app, viewer) = (service.client, service.client)
        (app.token, viewer.token) = ("app-token-of-the-test-0123456789", "viewer-token-of-the-test-0123456")
        let id = try await app.submit(#"{"source": "\#(try ServiceBench.url("grid.jpg"))", "seal": true}"#)
        #expect(sealedSecret(try await app.ended(id).result) != nil)
        let seen = try await viewer.job(id)
        #expect(seen.result?["sealed"] != nil && sealedSecret(seen.result) == nil)
        try await service.stop()
    }

    @Test func `A payload is rewritten with sealed media`() async throws {
        let service = try await bench.start(["--base-url", "https://push.example"])
        let payload = #"{"aps":{"alert":"x","mutable-content":1},"attach":"\#(try ServiceBench.url("grid.jpg"))"}"#
        let response = try await service.client.send(
            "POST", "/v1/payloads", body: #"{"payload": \#(payload), "request": {"seal": true}}"#)
        #expect(response.status == 200, "\(response.text)")
        let sent = try #require(try response.json()["payload"] as? [String: Any])
        let attachments = (sent["attachprep"] as? [String: Any])?["attachments"] as? [[String: Any]]
        let seal = try #require(attachments?.first?["sealed"] as? [String: Any])
        #expect((seal["secret"] as? String)?.count == 43 && seal["kind"] as? String == "image")
        try await service.stop()
    }
}
