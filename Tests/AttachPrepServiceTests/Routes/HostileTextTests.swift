import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepService

/// Requests whose text is expensive to compare cost no more than others of their size, and are answered.
@Suite(.serialized) struct HostileTextTests {
    private static let headers = [
        "Accept", "Authorization", "Cookie", "Content-Type", "Content-Encoding", "Prefer", "Idempotency-Key", "Range",
        "If-Range", "If-None-Match", "Origin", "Sec-Fetch-Site", "Expect", "Host", "traceparent", "tracestate",
        "Last-Event-ID", "Batch-Callback-URL", "X-Any",
    ]

    @Test(.enabled(if: LinearCost.isCompared), arguments: headers)
    func `Each header of a request is read in linear time`(name: String) async throws {
        let service = try await LiveService(token: nil)
        for shape in [HostileText.marks, .commas, .semicolons, .equals, .spaces, .joiners, .flags] {
            let cost = await LinearCost.measure(15_000, of: shape.text) { text in
                _ = try await service.anonymous.get("/v1/jobs", [(name, text)])
                _ = try await service.anonymous.post("/v1/jobs", json: "{}", [(name, text)])
                _ = try await service.anonymous.get(
                    "/media/\(String(repeating: "0", count: 32))/a.jpg", [(name, text)])
            }
            #expect(cost.isLinear, "\(shape.rawValue): \(cost)")
        }
        #expect(try await service.anonymous.get("/healthz").status == 200)
    }

    @Test(
        .enabled(if: LinearCost.isCompared),
        arguments: [
            "/", "/v1/jobs/", "/v1/jobs?search=", "/v1/jobs?tag=", "/v1/jobs?host=", "/v1/jobs?state=",
            "/v1/jobs?createdAfter=", "/v1/jobs?", "/v1/webhooks?search=", "/v1/campaigns/", "/v1/batches/", "/media/",
            "/v1/actions?cursor=", "/healthz?",
        ])
    func `Each part of a request's target is read in linear time`(start: String) async throws {
        let service = try await LiveService(token: nil)
        for shape in HostileText.allCases where shape.text(9).utf8.allSatisfy({ 0x20 < $0 && $0 < 0x7F }) {
            let cost = await LinearCost.measure(15_000, of: { start + shape.text($0) }) { target in
                _ = try await service.anonymous.get(target)
            }
            #expect(cost.isLinear, "\(shape.rawValue): \(cost)")
        }
    }

    private static let routes: [(path: String, type: String, bytes: Int)] = [
        ("/v1/jobs", "application/json", 60_000), ("/v1/jobs", "application/x-ndjson", 2_000_000),
        ("/v1/jobs/purge", "application/json", 60_000), ("/v1/jobs/retry", "application/json", 60_000),
        ("/v1/jobs/cancel", "application/json", 60_000), ("/v1/jobs/priority", "application/json", 60_000),
        ("/v1/jobs/pause", "application/json", 60_000), ("/v1/jobs/resume", "application/json", 60_000),
        ("/v1/webhooks/replay", "application/json", 60_000), ("/v1/receipts", "application/json", 60_000),
        ("/v1/payloads", "application/json", 60_000),
        ("/v1/session", "application/json", 4_000),
    ]

    private static let bodies: [@Sendable (Int) -> String] = [
        { "{\(HostileText.marks.json($0)):1}" }, { "{\"search\":\(HostileText.marks.json($0))}" },
        { "[{\"token\":\(HostileText.marks.json($0))}]" },
        { "{\"" + String(repeating: "\\u0301\\u0323", count: $0 / 12) + "\":1}" },
        { "{" + (0..<$0 / 10).map { "\"k\($0)\":1" }.joined(separator: ",") + "}" },
        { String(repeating: "[", count: $0) }, { String(repeating: "{\"a\":", count: $0 / 5) },
        { "{\"ids\":[" + String(repeating: "\"a\",", count: $0 / 4) + "\"a\"]}" },
        { "{\"search\":" + String(repeating: "9", count: $0) + "}" },
        { "{\"tags\":[\(HostileText.marks.json($0))]}" }, { "{\"host\":\(HostileText.marks.json($0))}" },
        { "{\"priority\":\(HostileText.marks.json($0)),\"ids\":[]}" },
        { String(repeating: "{}\n", count: $0 / 3) }, { String(repeating: "\n", count: $0) },
    ]

    @Test(.enabled(if: LinearCost.isCompared), arguments: routes.indices) func `Each body is read in linear time`(
        index: Int
    ) async throws {
        let (path, type, bytes) = Self.routes[index]
        let service = try await LiveService(token: nil)
        for (number, body) in Self.bodies.enumerated() {
            let cost = await LinearCost.measure(bytes, of: body) { text in
                _ = try await service.anonymous.post(path, json: text, type: type)
            }
            #expect(cost.isLinear, "\(path), body \(number): \(cost)")
        }
    }

    private static let configurations: [@Sendable (String) -> String] = [
        { "base-url: \"\($0)\"" }, { "base-url: '\($0)'" }, { "# \($0)" }, { "\($0): 1" }, { "base-url: \($0)" },
        { "tokens: [\($0)]" }, { "tokens: \"\($0)\"" }, { "base-url: |\n  \($0)" },
    ]

    @Test(.enabled(if: LinearCost.isCompared), arguments: HostileText.allCases)
    func `A configuration file is read in linear time`(shape: HostileText) {
        for (number, file) in Self.configurations.enumerated() {
            let cost = LinearCost.measure(
                Limits.configurationFileBytesMax - 100, of: { Array(file(shape.text($0)).utf8) }
            ) {
                _ = try ConfigurationFile(bytes: $0, path: "attachprep.yaml")
            }
            #expect(cost.isLinear, "file \(number): \(cost)")
        }
    }

    @Test(.enabled(if: LinearCost.isCompared)) func `Lines, items, nesting and keys of a configuration file`() {
        let files: [(Int) -> String] = [
            { (0..<$0 / 8).map { "k\($0): 1" }.joined(separator: "\n") },
            { "tokens:\n" + String(repeating: "- a\n", count: $0 / 4) },
            { "tokens: " + String(repeating: "[", count: $0) },
            { (0..<$0 / 100).map { String(repeating: " ", count: $0 % 90) + "a:" }.joined(separator: "\n") },
            { String(repeating: "--- a\n", count: $0 / 6) }, { String(repeating: "\n", count: $0) },
        ]
        for (number, file) in files.enumerated() {
            let cost = LinearCost.measure(
                Limits.configurationFileBytesMax - 100, of: { Array(file($0).utf8) }
            ) {
                _ = try ConfigurationFile(bytes: $0, path: "attachprep.yaml")
            }
            #expect(cost.isLinear, "file \(number): \(cost)")
        }
    }

    @Test(arguments: ["/v1/jobs/purge", "/v1/jobs/retry", "/v1/webhooks/replay"])
    func `A request with a handful of fields has at most 64 KB`(path: String) async throws {
        let service = try await LiveService(token: nil)
        let body = "{\"ids\":[\(String(repeating: " ", count: 65_536))]}"
        let answer = try await service.anonymous.post(path, json: body)
        #expect(answer.status == 413 && answer.code == "request.too_large")
        let many = (0..<1_001).map { _ in "\"01a220f2-ef16-7b84-8ce0-519e530e6e33\"" }.joined(separator: ",")
        #expect(try await service.anonymous.post(path, json: "{\"ids\":[\(many)]}").code == "request.too_large")
    }

    @Test(arguments: ["/v1/jobs", "/v1/jobs/purge", "/v1/receipts"])
    func `A key of marks is rejected, and its message is short`(path: String) async throws {
        let service = try await LiveService(token: nil)
        let answer = try await service.anonymous.post(path, json: "{\(HostileText.marks.json(30_000)):1}")
        #expect(answer.status == 400 && answer.code == "request.invalid" && answer.body.count < 1_000)
    }

    private static let twice = "has the key \"a\" twice in one object"

    @Test(arguments: [
        ("/v1/jobs", "application/json", #"{"source": "https://a.example/1", "a": 1, "a": 2}"#),
        ("/v1/jobs", "application/json", #"{"source": "https://a.example/1", "options": {"a": 1, "a": 2}}"#),
        ("/v1/jobs", "application/x-ndjson", #"{"source": "https://a.example/1", "a": 1, "a": 2}"#),
        ("/v1/jobs/purge", "application/json", #"{"a": 1, "a": 2}"#),
        ("/v1/jobs/retry", "application/json", #"{"a": 1, "a": 2}"#),
        ("/v1/webhooks/replay", "application/json", #"{"a": 1, "a": 2}"#),
        ("/v1/receipts", "application/json", #"{"a": 1, "a": 2}"#),
        ("/v1/receipts", "application/json", #"[{"a": 1, "a": 2}]"#),
        ("/v1/payloads", "application/json", #"{"payload": {"aps": {}, "a": 1, "a": 2}}"#),
        ("/v1/payloads", "application/json", #"{"aps": {}, "a": 1, "a": 2}"#),
        ("/v1/session", "application/json", #"{"a": 1, "a": 2}"#),
    ])
    func `A key that occurs twice is refused by every route, with the same sentence`(
        path: String, type: String, body: String
    ) async throws {
        let service = try await LiveService(token: nil)
        let answer = try await service.anonymous.post(path, json: body, type: type)
        #expect([400, 422].contains(answer.status), "\(answer.text)")
        #expect(answer.text.replacing("\\\"", with: "\"").contains(Self.twice), "\(answer.text)")
        #expect(answer.text.contains("parsers differ on which one counts, so keep one"), "\(answer.text)")
    }

    @Test func `A header with a run of marks is rejected; text of every language is not`() async throws {
        let service = try await LiveService(token: nil)
        #expect(
            try await service.anonymous.get("/v1/jobs", [("X-Any", HostileText.marks.text(200))]).status == 400)
        let fitting = "Nguye\u{302}\u{303}n مُحَمَّدٌ 👨‍👩‍👧‍👦"
        #expect(try await service.anonymous.get("/v1/jobs", [("X-Any", fitting)]).status == 200)
        let search = "/v1/jobs?search=Nguye%CC%82%CC%83n"
        #expect(try await service.anonymous.get(search).status == 200)
        #expect(
            try await service.anonymous.get("/v1/jobs?search=\(HostileText.percentEncodedMarks.text(600))").status
                == 400)
        #expect(try await service.anonymous.get("/v1/jobs?search=é").status == 400)
    }
}
