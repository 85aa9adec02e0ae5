import Logging
import ServiceLifecycle
import Testing

@testable import AttachPrepService

/// What a worker serves: probes without a token, metrics with one.
struct ProbeServiceTests {
    private static let token = "a-token-for-tests-0123456789"

    /// The statuses of `/healthz`, `/readyz`, and of `/metrics` without and with a token.
    private func statuses(host: String, tokens: [String]) async throws -> [Int] {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        var settings = ServiceSettings()
        (settings.host, settings.port) = (host, 0)
        let health = HealthRoutes(metricsPage: { _ in "attachprep_jobs 1\n" }, readiness: { ReadinessReport() })
        let service = ProbeService(
            health: health, settings: settings, tokens: try AccessTokens(tokens, logger: logger), logger: logger)
        let group = ServiceGroup(services: [service], logger: logger)
        let running = Task { try await group.run() }
        let port = try #require(await service.boundPort.value)
        let client = TestHTTPClient(port: port)
        var statuses: [Int] = []
        for path in ["/healthz", "/readyz", "/metrics"] { statuses.append(try await client.get(path).status) }
        statuses.append(try await client.get("/metrics", [("Authorization", "Bearer \(Self.token)")]).status)
        await group.triggerGracefulShutdown()
        try await running.value
        return statuses
    }

    @Test func `Metrics of a worker on a public address need a token`() async throws {
        #expect(try await statuses(host: "0.0.0.0", tokens: [Self.token]) == [200, 200, 401, 200])
    }

    @Test func `A worker without tokens on a public address serves no metrics, but its probes`() async throws {
        #expect(try await statuses(host: "0.0.0.0", tokens: []) == [200, 200, 403, 403])
    }

    @Test func `On a loopback address, metrics need a token where the worker has any`() async throws {
        #expect(try await statuses(host: "127.0.0.1", tokens: []) == [200, 200, 200, 200])
        #expect(try await statuses(host: "127.0.0.1", tokens: [Self.token]) == [200, 200, 401, 200])
    }
}
