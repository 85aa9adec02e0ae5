import Foundation
import TestSupport
import Testing

/// `attachprep serve --publish s3://…`: jobs, payloads and webhooks have URLs in the bucket.
@Suite(.timeLimit(.minutes(3))) struct PublishServiceTests {
    let bench: ServiceBench
    let store: ObjectStore
    let prefix = "service-\(UUID().uuidString)"

    init() async throws {
        bench = try ServiceBench()
        store = try await ObjectStore.shared()
    }

    private var base: String { "\(store.url)/\(ObjectStore.bucket)/\(prefix)" }

    private func start(_ options: [String] = []) async throws -> RunningService {
        let environment = store.environment.merging(["ATTACHPREP_PUBLISH": "s3://\(ObjectStore.bucket)/\(prefix)"]) {
            $1
        }
        return try await bench.start(options, environment: environment.mapValues { Optional($0) })
    }

    private func prepared(_ source: String, by service: RunningService) async throws -> [String: Any] {
        let response = try await service.client.send(
            "POST", "/v1/jobs", body: #"{"source": "\#(source)"}"#, headers: ["Prefer": "wait=40"])
        #expect(response.status == 200, "\(response.text)")
        return try response.json()
    }

    private func url(_ manifest: [String: Any]) throws -> String {
        try #require((manifest["attachment"] as? [String: Any])?["url"] as? String, "\(manifest)")
    }

    @Test func `A job's files are only in the bucket, at the URLs of its result`() async throws {
        let service = try await start()
        let manifest = try await prepared(try ServiceBench.url("grid.webp"), by: service)
        let sha256 = try #require((manifest["attachment"] as? [String: Any])?["sha256"] as? String)
        let path = "_content/\(sha256.prefix(32)).jpg"
        #expect(try url(manifest) == "\(base)/\(path)")
        #expect(try await store.object("\(prefix)/\(path)").status == 200)
        let page = try await service.client.get("/v1/jobs?limit=1").json()
        let listed = try #require((page["jobs"] as? [[String: Any]])?.first?["result"] as? [String: Any])
        #expect(try url(listed) == url(manifest))
        #expect(try bench.contents() == [] && bench.leftovers() == [])
        let log = try await service.stop().errorText
        #expect(log.contains("s3://\(ObjectStore.bucket)/\(prefix)"), "\(log)")
    }

    @Test func `The dashboard shows the state of the bucket and may load images from it`() async throws {
        let service = try await start()
        try await pollUntil("the bucket was checked") {
            let publish = try await service.client.get("/v1/overview").json()["publish"] as? [String: Any]
            #expect(publish?["target"] as? String == "s3://\(ObjectStore.bucket)/\(prefix)")
            return publish?["healthy"] as? Bool == true
        }
        let policy = try await service.client.get("/").header("content-security-policy")
        #expect(policy?.contains(" \(store.url);") == true, "\(policy ?? "none")")
        try await service.stop()
    }

    @Test func `A result is reused while it is in the bucket, and prepared again after its removal`() async throws {
        let server = try LoopbackServer()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.png")))
        server.serve("/grid.png", .body(image, type: "image/png", headers: ["Cache-Control": "max-age=3600"]))
        let service = try await start()
        let first = try await prepared(server.url("/grid.png"), by: service)
        let second = try await prepared(server.url("/grid.png"), by: service)
        #expect(try url(first) == url(second) && server.requests.count == 1)
        let id = try #require(first["id"] as? String)
        try await store.remove("\(prefix)/\(id)/manifest.json")
        let third = try await prepared(server.url("/grid.png"), by: service)
        #expect(try url(first) == url(third) && server.requests.count == 2)
        #expect(try await store.object("\(prefix)/\(id)/manifest.json").status == 200)
        try await service.stop()
    }

    @Test func `Payloads and webhooks have the URLs of the files, with the base URL of a CDN`() async throws {
        let receiver = try LoopbackServer()
        receiver.serve("/hook", .status(204))
        let secret = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
        let file = try bench.folder.write(secret, to: "secret")
        let service = try await start([
            "--publish-base-url", "https://cdn.example/push", "--webhook-secret-file", file,
        ])
        let source = try ServiceBench.url("grid.jpg")
        let payload = #"{"payload": {"aps":{"alert":"x","mutable-content":1},"attach":"\#(source)"}}"#
        let response = try await service.client.send("POST", "/v1/payloads", body: payload)
        #expect(response.text.contains("https://cdn.example/push/"), "\(response.text)")
        _ = try await service.client.submit(
            #"{"source": "\#(source)", "callbackURL": "\#(receiver.url("/hook"))"}"#)
        await receiver.until { !$0.requests.isEmpty }
        let webhook = String(decoding: try #require(receiver.requests.first).body, as: UTF8.self)
        #expect(webhook.contains("https://cdn.example/push/"), "\(webhook)")
        try await service.stop()
    }

    @Test func `An invalid publish target is reported before anything starts`() async throws {
        let arguments = ["serve", "--port", "0", "--publish", "s5://x"]
        let result = try await bench.command(arguments, timeoutSeconds: 30).run()
        #expect(result.exitCode == 2 && result.errorText.contains("Invalid value \"s5://x\" for --publish"))
    }
}
