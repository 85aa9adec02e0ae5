import AttachPrepJobs
import AttachPrepService
import Foundation
import MediaTypes
import Testing

struct ReceiptRouteTests {
    private func json(
        _ token: String, id: String = "a", outcome: String = "attached", attach: Double = 0.5, age: Double = 0
    ) -> String {
        #"{"token": "\#(token)", "id": "\#(id)", "outcome": "\#(outcome)", "attachSeconds": \#(attach), "#
            + #""ageSeconds": \#(age), "osVersion": "26.1"}"#
    }

    private func token(_ service: LiveService, _ campaign: String? = "spring", recipients: Int = 100) async throws
        -> String
    {
        try await service.receiptService.receipt(campaign: campaign, recipients: recipients).token
    }

    private func campaign(_ service: LiveService, _ name: String = "spring") async throws -> [String: Any] {
        try await service.caller.get("/v1/campaigns/\(name)").object
    }

    @Test func `A device reports with the payload's token, and a repeated report counts once`() async throws {
        let service = try await LiveService()
        let body = json(try await token(service))
        let first = try await service.anonymous.post("/v1/receipts", json: body)
        #expect(first.status == 200 && first.text == #"{"accepted":1,"counted":1,"refused":[]}"#)
        let second = try await service.anonymous.post("/v1/receipts", json: body)
        #expect(second.status == 200 && second.text == #"{"accepted":1,"counted":0,"refused":[]}"#)
        let campaign = try await campaign(service)
        #expect(campaign["arrivals"] as? Int == 1 && campaign["recipients"] as? Int == 100)
        #expect(campaign["arrivalRate"] as? Double == 0.01)
        #expect((campaign["outcomes"] as? [String: Int]) == ["attached": 1, "thumbnail": 0, "text": 0])
        #expect((campaign["attachSeconds"] as? [String: Any])?["max"] as? Double == 0.5)
        let send = try #require((campaign["sendToAttachSeconds"] as? [String: Any])?["max"] as? Double)
        #expect(send >= 0 && send < 60)
    }

    @Test func `Concurrent identical reports count once`() async throws {
        let service = try await LiveService()
        let body = json(try await token(service))
        let responses = try await withThrowingTaskGroup(of: TestHTTPClient.Response.self) { group in
            for _ in 0..<20 { group.addTask { try await service.anonymous.post("/v1/receipts", json: body) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(responses.allSatisfy { $0.status == 200 })
        #expect(responses.count { $0.object["counted"] as? Int == 1 } == 1)
        #expect(try await campaign(service)["arrivals"] as? Int == 1)
    }

    @Test func `A list of reports is processed item by item, with errors by line`() async throws {
        let service = try await LiveService()
        let token = try await token(service)
        let list = [
            json(token, id: "a"), json(token, id: "b", outcome: "text"), json(token, id: "a"),
            json(String(token.reversed()), id: "c"), json(token, id: "d", age: -1), "7", "null",
            json(token, id: "e", outcome: "eaten"), json(token, id: "f"),
        ]
        let response = try await service.anonymous.post("/v1/receipts", json: " [\(list.joined(separator: ","))]")
        #expect(response.status == 200)
        #expect(response.object["accepted"] as? Int == 4 && response.object["counted"] as? Int == 3)
        let refused = try #require(response.object["refused"] as? [[String: Any]])
        #expect(refused.compactMap { $0["line"] as? Int } == [4, 5, 6, 7, 8])
        #expect(refused.first?["code"] as? String == "request.unauthorized")
        #expect(Set(refused.dropFirst().compactMap { $0["code"] as? String }) == ["request.invalid"])
        let details = refused.compactMap { $0["detail"] as? String }
        #expect(details[2].hasPrefix("The receipt is a number"), "\(details)")
        #expect(
            details.last
                == #"The receipt's "outcome" must be one of attached, thumbnail, text, not the string "eaten"."#)
        #expect(try await campaign(service)["arrivals"] as? Int == 3)
    }

    @Test func `A list of a hundred reports is accepted, a longer one is rejected`() async throws {
        let service = try await LiveService()
        let token = try await token(service)
        let list = { (count: Int) in "[" + (0..<count).map { json(token, id: "\($0)") }.joined(separator: ",") + "]" }
        #expect(try await service.anonymous.post("/v1/receipts", json: list(100)).object["counted"] as? Int == 100)
        let response = try await service.anonymous.post("/v1/receipts", json: list(101))
        #expect(response.status == 413 && response.code == "request.too_large")
    }

    @Test func `A token of another service is rejected`() async throws {
        let (service, other) = (try await LiveService(), try await LiveService())
        for token in [try await token(other), "", "x", String(repeating: "A", count: 34), LiveService.token] {
            let response = try await service.anonymous.post("/v1/receipts", json: json(token))
            #expect(response.status == 401 && response.code == "request.unauthorized")
            #expect(response.field("www-authenticate") == "Bearer")
        }
        #expect(try await service.caller.get("/v1/campaigns").text == #"{"campaigns":[],"next":null}"#)
    }

    @Test func `Wrong tokens are rate-limited per address, valid ones are not affected`() async throws {
        // So slow that the limit is not refilled during the test.
        let service = try await LiveService { $0.wrongTokensPerSecondMax = 0.001 }
        var statuses: Set<Int> = []
        for _ in 0..<40 { statuses.insert(try await service.anonymous.post("/v1/receipts", json: json("x")).status) }
        #expect(statuses == [401, 429])
        let list = try await service.anonymous.post("/v1/receipts", json: "[\(json("x"))]")
        #expect(list.status == 429 && list.field("retry-after") != nil)
        #expect(try await service.anonymous.post("/v1/receipts", json: json(try await token(service))).status == 200)
    }

    @Test func `Reports over the rate limit of an address return Retry-After`() async throws {
        let service = try await LiveService { $0.requestsPerSecondMax = 0.001 }
        let token = try await token(service)
        #expect(try await service.anonymous.post("/v1/receipts", json: json(token)).status == 200)
        let response = try await service.anonymous.post("/v1/receipts", json: json(token, id: "b"))
        #expect(response.status == 429 && response.code == "request.rate_limited")
        #expect(response.field("retry-after").flatMap { Int($0) } ?? 0 > 500)
    }

    @Test func `Invalid bodies are limited by the work they cause, before they are read`() async throws {
        let service = try await LiveService { $0.anonymousWorkPerSecondMax = 0.000_001 }
        let token = try await token(service)
        // 60 KB cost at least a millisecond each.
        let body = String(repeating: "[", count: 60_000)
        var statuses: [Int] = []
        while statuses.last != 429, statuses.count < 2_000 {
            statuses.append(try await service.anonymous.post("/v1/receipts", json: body).status)
        }
        #expect(Set(statuses) == [400, 429])
        let response = try await service.anonymous.post("/v1/receipts", json: json(token))
        #expect(response.status == 429 && response.field("retry-after") != nil)
    }

    /// Bodies with `TOKEN` in place of a valid token, and the expected status.
    private static let hostile: [(body: String, status: Int)] = [
        ("", 400), ("[]", 400), ("{}", 400), ("null", 400), ("7", 400), ("\"TOKEN\"", 400), ("[", 400), ("\u{0}", 400),
        ("{\"token\": \"TOKEN\"", 400), (#"{"token": ["TOKEN"], "id": "a"}"#, 400),
        (#"{"token": "TOKEN", "id": 7, "outcome": "text", "attachSeconds": 1, "ageSeconds": 1}"#, 400),
        (#"{"token": "TOKEN", "id": "\ud800", "outcome": "text", "attachSeconds": 1, "ageSeconds": 1}"#, 400),
        (#"{"token": "TOKEN", "id": "a\u0000", "outcome": "text", "attachSeconds": 1, "ageSeconds": 1}"#, 400),
        (#"{"token": "TOKEN", "id": "a", "outcome": "text", "attachSeconds": 1e400, "ageSeconds": 1}"#, 400),
        (#"{"token": "TOKEN", "id": "a", "outcome": "text", "attachSeconds": NaN, "ageSeconds": 1}"#, 400),
        (#"{"token": "TOKEN", "id": "a", "outcome": "text", "attachSeconds": "1", "ageSeconds": 1}"#, 400),
        (#"{"token": "TOKEN", "id": "a", "outcome": "text", "attachSeconds": 1, "ageSeconds": -1e-300}"#, 400),
        (#"{"token": "TOKEN", "id": "a", "outcome": "text", "attachSeconds": 3601, "ageSeconds": 1}"#, 400),
        (#"{"token": "TOKEN", "id": "a", "outcome": "Text", "attachSeconds": 1, "ageSeconds": 1}"#, 400),
        (#"{"token": "T\u004fKEN", "id": "a", "outcome": "text", "attachSeconds": 1, "ageSeconds": 1}"#, 401),
        (String(repeating: "[", count: 60_000), 400),
        (String(repeating: "[", count: 30_000) + String(repeating: "]", count: 30_000), 400),
        (String(repeating: #"{"a":"#, count: 10_000) + "1" + String(repeating: "}", count: 10_000), 400),
        ("[" + String(repeating: "1,", count: 30_000) + "1]", 413), (String(repeating: " ", count: 65_537), 413),
    ]

    @Test func `Hostile bodies are rejected and not counted`() async throws {
        let service = try await LiveService { $0.anonymousWorkPerSecondMax = 0 }
        let token = try await token(service)
        for (body, status) in Self.hostile {
            let text = body.replacingOccurrences(of: "TOKEN", with: token)
            let response = try await service.anonymous.post("/v1/receipts", json: text)
            #expect(response.status == status, "\(text.prefix(150)): \(response.text)")
            #expect(response.field("content-type") == "application/problem+json")
        }
        let bytes = try await service.anonymous.send(
            "POST", "/v1/receipts", [("Content-Type", "application/json")], body: [0xFF, 0xFE, 0x7B, 0x00])
        #expect(bytes.status == 400)
        let form = try await service.anonymous.post(
            "/v1/receipts", json: json(token), type: "application/x-www-form-urlencoded")
        #expect(form.status == 415)
        #expect(try await campaign(service)["arrivals"] as? Int == 0)
    }

    @Test func `Campaigns need a token and are listed in pages`() async throws {
        let service = try await LiveService()
        for name in ["one", "two", "three"] { _ = try await token(service, name) }
        _ = try await token(service, nil)
        #expect(try await service.anonymous.get("/v1/campaigns").status == 401)
        #expect(try await service.anonymous.get("/v1/campaigns/one").status == 401)
        let names = { (response: TestHTTPClient.Response) in
            (response.object["campaigns"] as? [[String: Any]])?.compactMap { $0["name"] as? String }
        }
        let first = try await service.caller.get("/v1/campaigns?limit=3")
        #expect(names(first) == ["default", "three", "two"])
        let cursor = try #require(first.object["next"] as? String)
        let second = try await service.caller.get("/v1/campaigns?limit=3&cursor=\(cursor)")
        #expect(names(second) == ["one"] && second.object["next"] is NSNull)
        let one = try await campaign(service, "one")
        #expect(one["sendToAttachSeconds"] is NSNull && one["firstArrivalAt"] is NSNull && one.count == 13)
        #expect((one["jobs"] as? [String: Any])?["jobs"] as? Int == 0)
    }

    @Test func `A campaign shows the progress of its jobs, also before a payload is written`() async throws {
        let service = try await LiveService()
        for tag in ["campaign=spring", "campaign=spring", "campaign=springs"] {
            let body = #"{"source": "https://cdn.example/a.jpg", "tags": ["\#(tag)"]}"#
            #expect(try await service.caller.post("/v1/jobs", json: body).status == 202)
        }
        let campaign = try await campaign(service)
        let jobs = try #require(campaign["jobs"] as? [String: Any])
        #expect(jobs["jobs"] as? Int == 2 && (jobs["states"] as? [String: Int])?["queued"] == 2)
        #expect(jobs["done"] as? Bool == false && campaign["firstSentAt"] is NSNull)
    }

    @Test(arguments: [
        ("/v1/campaigns/none", 404), ("/v1/campaigns/a%20b", 404), ("/v1/campaigns/%00", 404),
        ("/v1/campaigns?cursor=x", 400), ("/v1/campaigns?limit=0", 400), ("/v1/campaigns?name=a", 400),
        ("/v1/receipts", 405),
    ])
    func `An unknown campaign, query or method is rejected`(path: String, status: Int) async throws {
        #expect(try await LiveService().caller.get(path).status == status)
    }

    @Test func `Without tokens, a public host name reaches only the receipt route`() async throws {
        let service = try await LiveService(token: nil)
        let phone = [("Host", "media.example"), ("X-Forwarded-For", "198.51.100.7")]
        let body = json(try await token(service))
        #expect(try await service.anonymous.post("/v1/receipts", json: body, phone).status == 200)
        #expect(try await service.anonymous.get("/v1/campaigns", phone).status == 403)
        let elsewhere = try await service.anonymous.post("/v1/receipts", json: body, [("Host", "evil.example")])
        #expect(elsewhere.status == 403)
    }
}
