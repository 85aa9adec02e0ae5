import AttachPrepJobs
import Foundation
import MediaTypes
import Testing

@testable import AttachPrepService

/// Batches, and what is done to many jobs at once.
struct BatchRouteTests {
    private func batch(of service: LiveService) async throws -> (id: String, jobs: [JobID]) {
        let lines = (1...3).map { #"{"source": "https://cdn.example/\#($0).png"}"# }.joined(separator: "\n")
        let response = try await service.caller.post("/v1/jobs", json: lines, type: "application/x-ndjson")
        let jobs = try #require(response.object["jobs"] as? [[String: Any]], "\(response.text)")
        let id = try #require(response.object["batch"] as? String)
        return (id, jobs.compactMap { ($0["id"] as? String).flatMap(JobID.init) })
    }

    @Test func `A batch shows its progress until it is done`() async throws {
        let service = try await LiveService()
        let (id, jobs) = try await batch(of: service)
        service.store.change(jobs[0]) { $0.state = .succeeded }
        let response = try await service.caller.get("/v1/batches/\(id)")
        #expect(response.object["jobs"] as? Int == 3 && response.object["done"] as? Bool == false)
        let states = try #require(response.object["states"] as? [String: Int])
        #expect(states["queued"] == 2 && states["succeeded"] == 1 && states.count == JobState.allCases.count)
        for job in jobs.dropFirst() { service.store.change(job) { $0.state = .failed } }
        #expect(try await service.caller.get("/v1/batches/\(id)").object["done"] as? Bool == true)
        #expect(try await service.caller.get("/v1/batches/\(JobID.make())").status == 404)
    }

    @Test func `What belongs to a batch is cancelled and moved together`() async throws {
        let service = try await LiveService()
        let (id, jobs) = try await batch(of: service)
        let other = try await service.job()
        let moved = try await service.caller.post(
            "/v1/jobs/priority", json: #"{"batch": "\#(id)", "priority": "high"}"#)
        #expect(moved.object["changed"] as? Int == 3, "\(moved.text)")
        let cancelled = try await service.caller.post("/v1/jobs/cancel", json: #"{"batch": "\#(id)"}"#)
        #expect(cancelled.object["cancelled"] as? Int == 3, "\(cancelled.text)")
        let states = service.store.state.withLock { state in jobs.map { state.jobs[$0]?.state } }
        #expect(states == [.cancelled, .cancelled, .cancelled])
        #expect(service.store.state.withLock { $0.jobs[other]?.state } == .queued)
    }

    @Test func `A batch takes the URL of its webhook, and a single job with one is a batch`() async throws {
        let service = try await LiveService()
        let line = #"{"source": "https://cdn.example/1.png"}"#
        let field = [("Batch-Callback-URL", "https://hooks.example/done")]
        let batch = try await service.caller.post("/v1/jobs", json: line, type: "application/x-ndjson", field)
        let id = try #require((batch.object["batch"] as? String).flatMap(JobID.init), "\(batch.text)")
        #expect(service.store.state.withLock(\.batchCallbacks) == [id: "https://hooks.example/done"])
        #expect(try await service.caller.post("/v1/jobs", json: line, field).object["batch"] is String)
        let wrong = try await service.caller.post(
            "/v1/jobs", json: line, type: "application/x-ndjson", [("Batch-Callback-URL", "ftp://a")])
        #expect(wrong.status == 400)
    }

    @Test(arguments: [
        ("cancel", "{}"), ("cancel", #"{"states": ["dead"]}"#), ("priority", #"{"priority": "high"}"#),
        ("priority", #"{"priority": "high", "states": ["running"]}"#), ("priority", #"{"batch": "x"}"#),
    ])
    func `A selection of no jobs, or of jobs that cannot be changed, is rejected`(
        action: String, body: String
    ) async throws {
        let response = try await LiveService().caller.post("/v1/jobs/\(action)", json: body)
        #expect(response.status == 400 && response.object["code"] as? String == "request.invalid", "\(response.text)")
    }
}
