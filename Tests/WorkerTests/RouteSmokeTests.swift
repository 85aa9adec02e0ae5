import Foundation
import TestSupport
import Testing

/// Each route of the real service once, on each database; bodies are the examples of the API's own description.
@Suite(.timeLimit(.minutes(4))) struct RouteSmokeTests {
    @Test func `Each route works on SQLite`() async throws {
        let service = try await ServiceBench().start(Self.options)
        try await RouteSmoke(service, hasFiles: true).run()
        try await service.stop()
    }

    @Test func `Each route works on PostgreSQL`() async throws {
        let shared = try await SharedQueueBench(try await PostgresServer.start())
        let service = try await shared.start("serve", Self.options)
        try await RouteSmoke(service, hasFiles: false).run()
        try await service.stop()
    }

    /// Receipts need the address of the service.
    private static let options = ["--base-url", "https://push.example"]
}

/// One call of each operation in `docs/openapi.json`.
private struct RouteSmoke {
    private struct Call {
        /// As in the API's description: `GET /v1/jobs/{id}`.
        let operation: String
        let path: String
        let body: String?
        let type: String

        /// - Parameter path: With the ids of this run; nil for the path of the operation, without any.
        init(_ operation: String, at path: String? = nil, body: String? = nil, type: String = "application/json") {
            self.operation = operation
            self.path = path ?? String(operation.split(separator: " ")[1])
            (self.body, self.type) = (body, type)
        }
    }

    private let service: RunningService
    /// Whether the service serves the files of results; with a bucket, it does not.
    private let hasFiles: Bool
    private let paths: [String: [String: Any]]

    init(_ service: RunningService, hasFiles: Bool) throws {
        (self.service, self.hasFiles) = (service, hasFiles)
        let data = try Data(contentsOf: URL(filePath: SourceTree.path("docs/openapi.json")))
        let description = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        paths = try #require(description["paths"] as? [String: [String: Any]])
    }

    func run() async throws {
        let calls = try await calls()
        let methods = ["get", "post", "put", "patch", "delete"]
        let described = paths.flatMap { path, operations in
            operations.keys.filter(methods.contains).map { "\($0.uppercased()) \(path)" }
        }
        #expect(Set(calls.map(\.operation)) == Set(described).subtracting(["GET /v1/events"]))
        for call in calls { try await check(call) }
        let events = await (try service.events()).receive(until: "event: counts")
        #expect(events.hasPrefix("HTTP/1.1 200"), "\(events)")
    }

    private func check(_ call: Call) async throws {
        let words = call.operation.split(separator: " ").map(String.init)
        let body = call.body ?? example(words[1], words[0])
        let response = try await service.client.send(
            words[0], call.path, body: body, headers: body == nil ? [:] : ["Content-Type": call.type])
        let operation = try #require(paths[words[1]]?[words[0].lowercased()] as? [String: Any])
        let statuses = try #require(operation["responses"] as? [String: Any]).keys
        #expect(statuses.contains("\(response.status)"), "\(call.operation): \(response.status) \(response.text)")
        let isMissing = words[1].hasPrefix("/media/") && !hasFiles
        #expect(
            isMissing ? response.status == 404 : response.status < 300,
            "\(call.operation): \(response.status) \(response.text)")
    }

    /// The example of an operation's JSON body; nil without a body.
    private func example(_ path: String, _ method: String) -> String? {
        let operation = paths[path]?[method.lowercased()] as? [String: Any]
        let content = (operation?["requestBody"] as? [String: Any])?["content"] as? [String: [String: Any]]
        guard let example = content?["application/json"]?["example"],
            let data = try? JSONSerialization.data(withJSONObject: example)
        else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// The calls in an order in which each finds the state that it needs.
    private func calls() async throws -> [Call] {
        let client = service.client
        let done = try await client.ended(
            try await client.submit(#"{"source": "\#(try ServiceBench.url("grid.jpg"))", "tags": ["a=b"]}"#))
        #expect(done.state == "succeeded", "\(done.json)")
        let failed = try await client.ended(
            try await client.submit(#"{"source": "\#(try ServiceBench.url("truncated.jpg"))"}"#))
        let later = #"{"source": "\#(try ServiceBench.url("grid.png"))", "notBefore": "2100-01-01T00:00:00Z"}"#
        let batch = try await client.submit(lines: [later, later])
        let batchID = try #require(try await client.job(batch[0]).json["batch"] as? String)
        let token = try await receiptToken()
        let page = try await client.get("/").text
        let asset = try #require(page.firstMatch(of: /assets\/([A-Za-z0-9._-]+)/)?.1, "\(page.prefix(500))")
        let unknown = "/media/\(String(repeating: "0", count: 32))/attachment.jpg"
        let attachment = try #require(done.file("attachment"))
        let file = try #require(URL(string: hasFiles ? attachment.url : unknown)).path
        let job = "/v1/jobs/\(batch[0])"
        let receipt = #"{"token": "\#(token)", "id": "a", "outcome": "text", "attachSeconds": 0.5, "ageSeconds": 0}"#
        return [
            Call("GET /healthz"), Call("GET /readyz"),
            Call("GET /metrics"), Call("GET /"),
            Call("GET /assets/{name}", at: "/assets/\(asset)"),
            Call("GET /openapi.json"),
            Call("POST /v1/jobs", body: later),
            Call("GET /v1/jobs", at: "/v1/jobs?tag=a%3Db&state=succeeded"),
            Call("GET /v1/jobs/{id}", at: "/v1/jobs/\(done.id)"),
            Call("GET /v1/jobs/{id}/log", at: "/v1/jobs/\(done.id)/log"),
            Call("GET /media/{id}/{file}", at: file),
            Call("GET /v1/batches/{id}", at: "/v1/batches/\(batchID)"),
            Call("POST /v1/jobs/pause"),
            Call("GET /v1/pauses"),
            Call("POST /v1/jobs/resume"),
            Call("POST /v1/jobs/{id}/retry", at: "/v1/jobs/\(failed.id)/retry"),
            Call(
                "POST /v1/jobs/{id}/snooze", at: "\(job)/snooze",
                body: #"{"notBefore": "2099-01-01T00:00:00Z"}"#),
            Call("POST /v1/jobs/{id}/run", at: "\(job)/run"),
            Call("DELETE /v1/jobs/{id}", at: "/v1/jobs/\(batch[1])"),
            Call("POST /v1/jobs/priority"),
            Call("POST /v1/jobs/cancel"),
            Call("POST /v1/jobs/retry"),
            Call("POST /v1/jobs/purge"),
            Call(
                "POST /v1/payloads",
                body: #"{"payload": {"aps": {"alert": "Hello"}}, "campaign": "spring"}"#),
            Call("GET /v1/webhooks"),
            Call("POST /v1/webhooks/replay"),
            Call("POST /v1/uploads", body: "GIF89a", type: "image/gif"),
            Call("POST /v1/receipts", body: receipt),
            Call("GET /v1/campaigns"),
            Call("GET /v1/campaigns/{name}", at: "/v1/campaigns/spring"),
            Call("GET /v1/overview"),
            Call("GET /v1/history"),
            Call("GET /v1/actions"),
            Call("GET /v1/session"),
            Call("POST /v1/session"),
            Call("DELETE /v1/session"),
        ]
    }

    private func receiptToken() async throws -> Substring {
        let source = try ServiceBench.url("grid.png")
        let body = #"""
            {"payload": {"aps": {"alert": "Hello", "mutable-content": 1}, "attach": "\#(source)"}, "campaign": "spring"}
            """#
        let written = try await service.client.send("POST", "/v1/payloads", body: body)
        return try #require(
            written.text.firstMatch(of: /"token"\s*:\s*"([^"]+)"/)?.1, "\(written.status) \(written.text)")
    }
}
