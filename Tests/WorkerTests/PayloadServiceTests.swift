import Crypto
import Foundation
import TestSupport
import Testing

/// `POST /v1/payloads` of a real `attachprep serve`.
@Suite(.timeLimit(.minutes(3))) struct PayloadServiceTests {
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    /// A request body with this payload.
    private func body(_ payload: String, _ rest: String = "") -> String { "{\"payload\": \(payload)\(rest)}" }

    private func payload(_ sample: String) throws -> String {
        #"{"aps":{"alert":"x","mutable-content":1},"attach":"\#(try ServiceBench.url(sample))"}"#
    }

    private func neutral(_ response: ServiceClient.Response) throws -> [String: Any] {
        let payload = try #require(try response.json()["payload"] as? [String: Any], "\(response.text)")
        return try #require(payload["attachprep"] as? [String: Any], "\(response.text)")
    }

    @Test func `A rewritten payload has the URL of the file, with its length and digest`() async throws {
        let service = try await bench.start()
        let response = try await service.client.send("POST", "/v1/payloads", body: body(try payload("grid.heic")))
        #expect(response.status == 200, "\(response.text)")
        let attachment = try #require((try neutral(response)["attachments"] as? [[String: Any]])?.first)
        let file = try await service.client.get(try #require(attachment["url"] as? String))
        #expect(file.status == 200 && file.body.count == attachment["bytes"] as? Int)
        let digest = SHA256.hash(data: file.body).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(attachment["sha256"] as? String == digest)
        #expect((try response.json()["manifests"] as? [[String: Any]])?.first?["outcome"] as? String == "converted")
        try await service.stop()
    }

    @Test func `The service keeps the spelling of the payload's other members`() async throws {
        let service = try await bench.start()
        let odd = #"{ "n" : [1.50, -0, 1e3],"aps":{"alert":"\u00e4","mutable-content":"1"},"attach":"#
        let source = try ServiceBench.url("grid.png")
        let response = try await service.client.send(
            "POST", "/v1/payloads", body: body(odd + "\"\(source)\"}", #", "request": {"rendition": "display"}"#))
        #expect(response.text.hasPrefix("{\"payload\":" + odd), "\(response.text)")
        try await service.stop()
    }

    @Test func `Media that cannot be fetched is removed as soon as the download fails`() async throws {
        let service = try await bench.start()
        let gone = #"{"aps":{"alert":"x","mutable-content":1},"attach":"http://127.0.0.1:1/cat.jpg"}"#
        let before = ContinuousClock.now
        let response = try await service.client.send(
            "POST", "/v1/payloads", body: body(gone, #", "request": {"budget": 120}"#))
        #expect(response.status == 200 && response.text.contains("payload.media_removed"), "\(response.text)")
        #expect(
            (try response.json()["payload"] as? [String: Any])?.keys.sorted() == ["aps"], "\(response.text)")
        // The service waits at most 55 s for results.
        #expect(ContinuousClock.now - before < .seconds(50))
        try await service.stop()
    }

    @Test func `A repeated request is answered from the stored result, without another download`() async throws {
        let service = try await bench.start()
        let origin = try LoopbackServer()
        let image = try Data(contentsOf: URL(fileURLWithPath: SourceTree.sample("grid.png")))
        origin.serve("/cat.png", .body(image, headers: ["Cache-Control": "max-age=600"]))
        let json = body(#"{"aps":{"alert":"x","mutable-content":1},"attach":"\#(origin.url("/cat.png"))"}"#)
        let first = try await service.client.send("POST", "/v1/payloads", body: json)
        let second = try await service.client.send("POST", "/v1/payloads", body: json)
        let payload = { (response: ServiceClient.Response) in try response.json()["payload"] as? NSDictionary }
        #expect(try payload(first) != nil && payload(first) == payload(second))
        #expect(origin.requests.count == 1)
        try await service.stop()
    }

    @Test func `Payloads as JSON Lines give one result a line, and a bad line does not stop the others`() async throws {
        let service = try await bench.start()
        let lines = [body(try payload("grid.heic")), "{", body(try payload("grid.heic"), #", "neutral": false"#)]
        let response = try await service.client.send(
            "POST", "/v1/payloads", body: lines.joined(separator: "\n"),
            headers: ["Content-Type": "application/x-ndjson"])
        #expect(response.status == 200 && response.header("Content-Type") == "application/x-ndjson")
        let results = try response.text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(results.count == 3, "\(response.text)")
        #expect(results[0]["manifests"] != nil && results[2]["payload"] != nil)
        #expect((results[1]["error"] as? [String: Any])?["code"] as? String == "payload.invalid")
        try await service.stop()
    }

    @Test func `Too many or no lines are rejected as a whole`() async throws {
        let service = try await bench.start()
        for (body, code) in [("\n", "request.invalid"), (String(repeating: "{}\n", count: 501), "request.too_large")] {
            let response = try await service.client.send(
                "POST", "/v1/payloads", body: body, headers: ["Content-Type": "application/x-ndjson"])
            #expect(response.text.contains(code), "\(response.status) \(response.text)")
        }
        try await service.stop()
    }

    private static let rejected: [(body: String, status: Int, code: String)] = [
        (#"{"payload": {"aps": {"alert": "x"}}}"#, 422, "payload.no_media"),
        (#"{"payload": []}"#, 422, "payload.invalid"),
        (#"{"payload": {"a": 1, "a": 2}}"#, 422, "payload.invalid"),
        (#"{}"#, 422, "payload.invalid"),
        (#"{"payload": {"attach": "https://a/b.jpg"}, "x": 1}"#, 400, "request.invalid"),
        (#"{"payload": {"attach": "https://a/b.jpg"}, "dialect": "airshop"}"#, 400, "request.invalid"),
        (#"{"payload": {"attach": "https://a/b.jpg"}, "dialect": 1}"#, 400, "request.invalid"),
        (#"{"payload": {"attach": "https://a/b.jpg"}, "request": {"source": "x"}}"#, 400, "request.invalid"),
        (#"{"payload": {"attach": "https://a/b.jpg"}, "request": {"budget": -1}}"#, 400, "request.invalid"),
        (#"{"payload": {"attach": "https://a/b.jpg"}, "recipients": 0}"#, 400, "request.invalid"),
        (#"{"payload": {"attach": "https://a/b.jpg"}, "recipients": 1e400}"#, 400, "request.invalid"),
        (#"{"payload": {"attach": "https://a/b.jpg"}, "campaign": "a b"}"#, 400, "request.invalid"),
    ]

    @Test func `A payload that cannot be rewritten is rejected with its error code`() async throws {
        let service = try await bench.start()
        for (body, status, code) in Self.rejected {
            let response = try await service.client.send("POST", "/v1/payloads", body: body)
            #expect(response.status == status, "\(body): \(response.text)")
            #expect(try response.json()["code"] as? String == code, "\(body): \(response.text)")
        }
        try await service.stop()
    }

    @Test func `Hostile JSON is rejected, and the service keeps running`() async throws {
        let service = try await bench.start()
        let deep = String(repeating: "[", count: 60_000)
        let wide = "{" + (0..<5_000).map { "\"k\($0)\":0" }.joined(separator: ",") + "}"
        let bodies = [
            "{\"payload\": \(deep)", "{\"payload\": \(wide)}", "{\"payload\": {\"attach\": \"\\ud800\"}}", "\u{0}",
        ]
        for text in bodies {
            let response = try await service.client.send("POST", "/v1/payloads", body: text)
            #expect(response.status == 422, "\(response.text)")
        }
        let long = try await service.client.send(
            "POST", "/v1/payloads", body: "{\"payload\": {\"a\": \"\(String(repeating: "x", count: 70_000))\"}}")
        #expect(long.status == 413)
        #expect(try await service.client.get("/healthz").status == 200)
        try await service.stop()
    }
}
