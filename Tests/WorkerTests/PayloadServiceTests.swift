import Crypto
import Foundation
import TestSupport
import Testing

/// `POST /v1/payloads`, with the real `attachprep serve` behind it.
@Suite(.timeLimit(.minutes(3))) struct PayloadServiceTests {
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    /// The body around a payload.
    private func body(_ payload: String, _ rest: String = "") -> String { "{\"payload\": \(payload)\(rest)}" }

    private func payload(_ sample: String) throws -> String {
        #"{"aps":{"alert":"x","mutable-content":1},"attach":"\#(try ServiceBench.url(sample))"}"#
    }

    private func neutral(_ answer: ServiceClient.Answer) throws -> [String: Any] {
        let payload = try #require(try answer.json()["payload"] as? [String: Any], "\(answer.text)")
        return try #require(payload["attachprep"] as? [String: Any], "\(answer.text)")
    }

    @Test func `A payload comes back with an address where the file is, as long and as whole as it says`() async throws
    {
        let service = try await bench.start()
        let answer = try await service.client.send("POST", "/v1/payloads", body: body(try payload("grid.heic")))
        #expect(answer.status == 200, "\(answer.text)")
        let attachment = try #require((try neutral(answer)["attachments"] as? [[String: Any]])?.first)
        let file = try await service.client.get(try #require(attachment["url"] as? String))
        #expect(file.status == 200 && file.body.count == attachment["bytes"] as? Int)
        let digest = SHA256.hash(data: file.body).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(attachment["sha256"] as? String == digest)
        #expect((try answer.json()["manifests"] as? [[String: Any]])?.first?["outcome"] as? String == "converted")
        try await service.stop()
    }

    @Test func `The payload's own spelling is kept through the service`() async throws {
        let service = try await bench.start()
        let odd = #"{ "n" : [1.50, -0, 1e3],"aps":{"alert":"\u00e4","mutable-content":"1"},"attach":"#
        let source = try ServiceBench.url("grid.png")
        let answer = try await service.client.send(
            "POST", "/v1/payloads", body: body(odd + "\"\(source)\"}", #", "request": {"rendition": "display"}"#))
        #expect(answer.text.hasPrefix("{\"payload\":" + odd), "\(answer.text)")
        try await service.stop()
    }

    @Test func `Media that cannot be fetched is taken out at once, not when the time is over`() async throws {
        let service = try await bench.start()
        let gone = #"{"aps":{"alert":"x","mutable-content":1},"attach":"http://127.0.0.1:1/cat.jpg"}"#
        let before = ContinuousClock.now
        let answer = try await service.client.send(
            "POST", "/v1/payloads", body: body(gone, #", "request": {"budget": 120}"#))
        #expect(answer.status == 200 && answer.text.contains("payload.media_removed"), "\(answer.text)")
        #expect(
            (try answer.json()["payload"] as? [String: Any])?.keys.sorted() == ["aps"], "\(answer.text)")
        // The service waits 55 s at most for what may still come.
        #expect(ContinuousClock.now - before < .seconds(50))
        try await service.stop()
    }

    @Test func `Asked again it answers from what there is, without another download`() async throws {
        let service = try await bench.start()
        let origin = try LoopbackServer()
        let picture = try Data(contentsOf: URL(fileURLWithPath: SourceTree.sample("grid.png")))
        origin.serve("/cat.png", .body(picture, headers: ["Cache-Control": "max-age=600"]))
        let json = body(#"{"aps":{"alert":"x","mutable-content":1},"attach":"\#(origin.url("/cat.png"))"}"#)
        let first = try await service.client.send("POST", "/v1/payloads", body: json)
        let second = try await service.client.send("POST", "/v1/payloads", body: json)
        let payload = { (answer: ServiceClient.Answer) in try answer.json()["payload"] as? NSDictionary }
        #expect(try payload(first) != nil && payload(first) == payload(second))
        #expect(origin.requests.count == 1)
        try await service.stop()
    }

    private static let refused: [(body: String, status: Int, code: String)] = [
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

    @Test func `What cannot be rewritten is refused with its code`() async throws {
        let service = try await bench.start()
        for (body, status, code) in Self.refused {
            let answer = try await service.client.send("POST", "/v1/payloads", body: body)
            #expect(answer.status == status, "\(body): \(answer.text)")
            #expect(try answer.json()["code"] as? String == code, "\(body): \(answer.text)")
        }
        try await service.stop()
    }

    @Test func `Hostile JSON is refused, and the service lives`() async throws {
        let service = try await bench.start()
        let deep = String(repeating: "[", count: 60_000)
        let wide = "{" + (0..<5_000).map { "\"k\($0)\":0" }.joined(separator: ",") + "}"
        let bodies = [
            "{\"payload\": \(deep)", "{\"payload\": \(wide)}", "{\"payload\": {\"attach\": \"\\ud800\"}}", "\u{0}",
        ]
        for text in bodies {
            let answer = try await service.client.send("POST", "/v1/payloads", body: text)
            #expect(answer.status == 422, "\(answer.text)")
        }
        let long = try await service.client.send(
            "POST", "/v1/payloads", body: "{\"payload\": {\"a\": \"\(String(repeating: "x", count: 70_000))\"}}")
        #expect(long.status == 413)
        #expect(try await service.client.get("/healthz").status == 200)
        try await service.stop()
    }
}
