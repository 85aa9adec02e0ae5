import Hummingbird
import Logging
import RichPush
import ServiceLifecycle

/// What a worker answers: whether it lives and can work, and its metrics. To everybody: nothing else is behind it.
struct ProbeService: FrontService {
    let boundPort = BoundPort()
    private let health: HealthRoutes
    private let settings: ServiceSettings
    private let logger: Logger

    init(health: HealthRoutes, settings: ServiceSettings, logger: Logger) {
        (self.health, self.settings, self.logger) = (health, settings, logger)
    }

    func run() async throws {
        let endpoints = health.endpoints.map { endpoint in
            var endpoint = endpoint
            endpoint.access = .everybody
            return endpoint
        }
        let front = FrontApplication(
            endpoints: endpoints, gate: AccessGate(tokens: try AccessTokens([], logger: logger), settings: settings),
            settings: settings, port: boundPort, logger: logger, hasLoopbackWall: false)
        defer { boundPort.end() }
        try await withGracefulShutdownHandler {
            do {
                try await front.make().run()
            } catch {
                throw BindFault.named(error, settings)
            }
        } onGracefulShutdown: {
            health.leave()
        }
    }
}
