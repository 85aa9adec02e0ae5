import Testing

@testable import AttachPrepService

@Suite struct HTTPMetricsTests {
    private let registry = PrometheusRegistry()

    private func service() async throws -> LiveService {
        try await LiveService(metrics: HTTPMetrics(factory: registry))
    }

    private func count(_ method: String, _ route: String, _ code: Int) throws -> Double? {
        try PrometheusPage(registry.exposition()).value(
            "\(HTTPMetrics.secondsLabel)_count", ["method": method, "route": route, "code": "\(code)"])
    }

    @Test func `A request is counted by method, template of its route and status code`() async throws {
        let service = try await service()
        let id = try await service.job()
        for _ in 0..<2 { _ = try await service.caller.get("/v1/jobs/\(id)") }
        _ = try await service.caller.get("/v1/jobs/0193")
        _ = try await service.anonymous.get("/v1/jobs/\(id)")
        #expect(try count("POST", "/v1/jobs", 202) == 1)
        #expect(try count("GET", "/v1/jobs/{id}", 200) == 2)
        #expect(try count("GET", "/v1/jobs/{id}", 401) == 1)
        let page = registry.exposition()
        #expect(!page.contains("\(id)") && !page.contains("0193"))
    }

    @Test func `Unknown paths and methods are one route, so that callers cannot make series`() async throws {
        let service = try await service()
        for path in ["/wp-login.php", "/v2/jobs", "/v1/jobs/a/b/c"] { _ = try await service.caller.get(path) }
        _ = try await service.caller.send("PROPFIND", "/")
        #expect(try count("", HTTPMetrics.unknownRoute, 404) == 3)
        #expect(try count("", HTTPMetrics.unknownRoute, 405) == 1)
        #expect(try count("GET", "/wp-login.php", 404) == nil)
    }

    @Test func `The duration of an event stream ends with the head of its response`() async throws {
        let service = try await service()
        let response = try await service.caller.send("HEAD", "/v1/events")
        #expect(response.status == 200)
        #expect(try count("HEAD", "/v1/events", 200) == 1)
    }
}
