import Foundation
import TestSupport
import Testing

/// `attachprep serve --publish s3://…`: jobs, payloads and webhooks carry addresses in the bucket.
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
        let answer = try await service.client.send(
            "POST", "/v1/jobs", body: #"{"source": "\#(source)"}"#, headers: ["Prefer": "wait=40"])
        #expect(answer.status == 200, "\(answer.text)")
        return try answer.json()
    }

    private func url(_ manifest: [String: Any]) throws -> String {
        try #require((manifest["attachment"] as? [String: Any])?["url"] as? String, "\(manifest)")
    }

    @Test func `A job's files are in the bucket alone, at the addresses of its result`() async throws {
        let service = try await start()
        let manifest = try await prepared(try ServiceBench.url("grid.webp"), by: service)
        let id = try #require(manifest["id"] as? String)
        #expect(try url(manifest) == "\(base)/\(id)/attachment.jpg")
        #expect(try await store.object("\(prefix)/\(id)/attachment.jpg").status == 200)
        let page = try await service.client.get("/v1/jobs?limit=1").json()
        let listed = try #require((page["jobs"] as? [[String: Any]])?.first?["result"] as? [String: Any])
        #expect(try url(listed) == url(manifest))
        #expect(try bench.contents() == [] && bench.leftovers() == [])
        let log = try await service.stop().errorText
        #expect(log.contains("s3://\(ObjectStore.bucket)/\(prefix)"), "\(log)")
    }

    @Test func `The dashboard knows the bucket: how it is, and where pictures may come from`() async throws {
        let service = try await start()
        try await askUntil("the bucket was looked at") {
            let publish = try await service.client.get("/v1/overview").json()["publish"] as? [String: Any]
            #expect(publish?["target"] as? String == "s3://\(ObjectStore.bucket)/\(prefix)")
            return publish?["healthy"] as? Bool == true
        }
        let policy = try await service.client.get("/").header("content-security-policy")
        #expect(policy?.contains(" \(store.url);") == true, "\(policy ?? "none")")
        try await service.stop()
    }

    @Test func `A result is used again while it stands in the bucket, and made anew when it does not`() async throws {
        let server = try LoopbackServer()
        let picture = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.png")))
        server.serve("/grid.png", .body(picture, type: "image/png", headers: ["Cache-Control": "max-age=3600"]))
        let service = try await start()
        let first = try await prepared(server.url("/grid.png"), by: service)
        let again = try await prepared(server.url("/grid.png"), by: service)
        #expect(try url(first) == url(again) && server.requests.count == 1)
        let id = try #require(first["id"] as? String)
        try await store.remove("\(prefix)/\(id)/manifest.json")
        let anew = try await prepared(server.url("/grid.png"), by: service)
        #expect(try url(first) == url(anew) && server.requests.count == 2)
        #expect(try await store.object("\(prefix)/\(id)/manifest.json").status == 200)
        try await service.stop()
    }

    @Test func `A payload and a webhook carry the addresses, through a CDN if there is one`() async throws {
        let receiver = try LoopbackServer()
        receiver.serve("/hook", .status(204))
        let secret = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
        let file = try bench.folder.write(secret, to: "secret")
        let service = try await start([
            "--publish-base-url", "https://cdn.example/push", "--webhook-secret-file", file,
        ])
        let source = try ServiceBench.url("grid.jpg")
        let payload = #"{"payload": {"aps":{"alert":"x","mutable-content":1},"attach":"\#(source)"}}"#
        let answer = try await service.client.send("POST", "/v1/payloads", body: payload)
        #expect(answer.text.contains("https://cdn.example/push/"), "\(answer.text)")
        _ = try await service.client.submit(
            #"{"source": "\#(source)", "callbackURL": "\#(receiver.url("/hook"))"}"#)
        await receiver.until { !$0.requests.isEmpty }
        let told = String(decoding: try #require(receiver.requests.first).body, as: UTF8.self)
        #expect(told.contains("https://cdn.example/push/"), "\(told)")
        try await service.stop()
    }

    @Test func `A bucket that takes nothing fails the job, and is told at the start`() async throws {
        let environment = store.environment.merging([
            "ATTACHPREP_PUBLISH": "s3://nowhere", "AWS_SECRET_ACCESS_KEY": "testing",
        ]) { $1 }
        let service = try await bench.start(environment: environment.mapValues { Optional($0) })
        let manifest = try await prepared(try ServiceBench.url("grid.jpg"), by: service)
        #expect((manifest["error"] as? [String: Any])?["code"] as? String == "publish.not_found", "\(manifest)")
        let log = try await service.stop().errorText
        #expect(log.contains("bucket is not writable"), "\(log)")
    }

    @Test func `A target that cannot be is said before anything starts`() async throws {
        let words = ["serve", "--port", "0", "--publish", "s5://x"]
        let result = try await bench.command(words, timeoutSeconds: 30).run()
        #expect(result.exitCode == 2 && result.errorText.contains("Invalid value \"s5://x\" for --publish"))
    }
}
