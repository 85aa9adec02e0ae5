import AttachPrepJobs
import Foundation
import MediaTypes
import Testing

@testable import AttachPrepService

/// The filters of `GET /v1/jobs` and of requests that act on many jobs.
struct JobFilterTests {
    private func ids(_ service: LiveService, _ query: String) async throws -> [String] {
        let response = try await service.caller.get("/v1/jobs?\(query)")
        let jobs = try #require(response.object["jobs"] as? [[String: Any]], "\(response.text)")
        return jobs.compactMap { ($0["request"] as? [String: Any])?["id"] as? String }
    }

    private func submit(_ service: LiveService) async throws -> String {
        let lines = #"""
            {"source": "https://cdn.example/1.png", "id": "one", "tags": ["campaign=spring", "eu"]}
            {"source": "https://other.example/2.png", "id": "two", "tags": ["campaign=spring"]}
            """#
        let response = try await service.caller.post(
            "/v1/jobs", json: lines, type: "application/x-ndjson", [("Idempotency-Key", "key-1")])
        return try #require(response.object["batch"] as? String, "\(response.text)")
    }

    @Test func `Jobs are found by exactly the words that their caller chose`() async throws {
        let service = try await LiveService()
        let batch = try await submit(service)
        #expect(try await ids(service, "callerID=one") == ["one"])
        #expect(try await ids(service, "callerID=on").isEmpty)
        #expect(try await Set(ids(service, "batch=\(batch)")) == ["one", "two"])
        #expect(try await ids(service, "idempotencyKey=key-1&tag=eu") == ["one"])
        #expect(try await ids(service, "tag=eu,campaign%3Dspring") == ["one"])
        #expect(try await ids(service, "tag=eu&tag=us").isEmpty)
        #expect(try await ids(service, "host=Other.example") == ["two"])
        let job = try #require(
            (try await service.caller.get("/v1/jobs?callerID=one").object["jobs"] as? [[String: Any]])?.first)
        #expect(job["batch"] as? String == batch && job["idempotencyKey"] as? String == "key-1")
    }

    @Test(arguments: ["callerID=", "batch=%00", "tag=", "tag=a,,b", "tag=a%20b", "host=a/b", "callerID=a&callerID=b"])
    func `A malformed word is rejected`(query: String) async throws {
        let response = try await LiveService().caller.get("/v1/jobs?\(query)")
        #expect(response.status == 400 && response.object["code"] as? String == "request.invalid", "\(response.text)")
    }

    @Test(arguments: [
        #"["a", "a"]"#, #"["a,b"]"#, #"[""]"#, #"["a b"]"#, "[\"\(String(repeating: "x", count: 65))\"]",
        #"["1","2","3","4","5","6","7","8","9","10","11"]"#,
    ])
    func `Tags of a request are few, short and distinct`(tags: String) async throws {
        let response = try await LiveService().caller.post(
            "/v1/jobs", json: #"{"source": "https://cdn.example/1.png", "tags": \#(tags)}"#)
        #expect(response.status == 400 && response.text.contains("tags"), "\(response.text)")
    }
}
