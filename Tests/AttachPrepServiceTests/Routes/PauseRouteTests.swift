import AttachPrepJobs
import Foundation
import MediaTypes
import Testing

@testable import AttachPrepService

struct PauseRouteTests {
    @Test func `A pause is listed until its jobs resume`() async throws {
        let service = try await LiveService()
        let paused = try await service.caller.post(
            "/v1/jobs/pause", json: #"{"host": "CDN.example", "reason": "It is moved"}"#)
        #expect(paused.status == 200, "\(paused.text)")
        #expect(paused.object["target"] as? String == "host" && paused.object["name"] as? String == "cdn.example")
        let listed = try await service.caller.get("/v1/pauses").object["pauses"] as? [[String: Any]]
        #expect(listed?.count == 1 && listed?.first?["reason"] as? String == "It is moved")
        #expect((listed?.first?["caller"] as? String)?.isEmpty == false)
        let overview = try await service.caller.get("/v1/overview").object
        #expect((overview["pauses"] as? [Any])?.count == 1)
        let resumed = try await service.caller.post("/v1/jobs/resume", json: #"{"host": "cdn.example"}"#)
        #expect(resumed.object["resumed"] as? Bool == true)
        #expect(service.store.state.withLock(\.pauses).isEmpty)
    }

    @Test(arguments: [
        "{}", #"{"all": false}"#, #"{"all": true, "lane": "bulk"}"#, #"{"lane": "slow"}"#,
        #"{"host": "https://cdn.example/a"}"#, #"{"host": "cdn.example:8080"}"#, #"{"host": ""}"#,
        #"{"all": true, "reason": "\u0000"}"#,
    ])
    func `A pause names exactly one lane, host or all`(body: String) async throws {
        let service = try await LiveService()
        let response = try await service.caller.post("/v1/jobs/pause", json: body)
        #expect(response.status == 400 && response.object["code"] as? String == "request.invalid", "\(response.text)")
        #expect(service.store.state.withLock(\.pauses).isEmpty)
    }

    @Test func `An IPv6 address is a host`() async throws {
        let service = try await LiveService()
        let response = try await service.caller.post("/v1/jobs/pause", json: #"{"host": "2001:DB8::7"}"#)
        #expect(response.object["name"] as? String == "2001:db8::7", "\(response.text)")
    }
}
