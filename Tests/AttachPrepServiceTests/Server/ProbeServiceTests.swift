import AttachPrep
import Logging
import ServiceLifecycle
import Testing

@testable import AttachPrepService

/// What a worker serves: probes to anyone, metrics by the rule of a service.
struct ProbeServiceTests {
    private static let token = "a-token-for-tests-0123456789"

    /// The statuses of `/healthz`, `/readyz`, and of `/metrics` without and with a token.
    private func statuses(
        tokens: [String], networks: [String] = [], fields: [(String, String)] = []
    ) async throws -> [Int] {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        var settings = ServiceSettings()
        (settings.host, settings.port) = ("0.0.0.0", 0)
        settings.metricsNetworks = try networks.map { text in try AddressBlock(text) }
        let health = HealthRoutes(metricsPage: { _ in "attachprep_jobs 1\n" }, readiness: { ReadinessReport() })
        let service = ProbeService(
            health: health, settings: settings, tokens: try AccessTokens(tokens, logger: logger), logger: logger)
        let group = ServiceGroup(services: [service], logger: logger)
        let running = Task { try await group.run() }
        let port = try #require(await service.boundPort.value)
        let client = TestHTTPClient(port: port)
        var statuses: [Int] = []
        for path in ["/healthz", "/readyz", "/metrics"] {
            statuses.append(try await client.get(path, fields).status)
        }
        let token = ("Authorization", "Bearer \(Self.token)")
        statuses.append(try await client.get("/metrics", fields + [token]).status)
        await group.triggerGracefulShutdown()
        try await running.value
        return statuses
    }

    private let forwarded = [("X-Forwarded-For", "192.0.2.1")]

    @Test func `Metrics of a worker with tokens need one`() async throws {
        #expect(try await statuses(tokens: [Self.token]) == [200, 200, 401, 200])
        #expect(try await statuses(tokens: [Self.token], fields: forwarded) == [200, 200, 401, 200])
    }

    @Test func `Metrics of a worker without tokens are for clients on its machine`() async throws {
        #expect(try await statuses(tokens: []) == [200, 200, 200, 200])
        #expect(try await statuses(tokens: [], fields: forwarded) == [200, 200, 403, 403])
        #expect(try await statuses(tokens: [], fields: [("Host", "rebound.example")]) == [200, 200, 403, 403])
    }

    @Test func `Clients of a metrics network need no token unless a proxy forwarded the request`() async throws {
        let networks = ["10.0.0.0/8", "127.0.0.0/8"]
        #expect(try await statuses(tokens: [Self.token], networks: networks) == [200, 200, 200, 200])
        let all = try await statuses(tokens: [Self.token], networks: networks, fields: forwarded)
        #expect(all == [200, 200, 401, 200])
        #expect(try await statuses(tokens: [Self.token], networks: ["10.0.0.0/8"]) == [200, 200, 401, 200])
    }
}
