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
    private let drained: @Sendable () async -> Void

    /// - Parameter drained: returns when running jobs have ended after it was asked to stop.
    init(
        health: HealthRoutes, settings: ServiceSettings, logger: Logger,
        drained: @escaping @Sendable () async -> Void = {}
    ) {
        (self.health, self.settings, self.logger, self.drained) = (health, settings, logger, drained)
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
        try await front.run(stopping: { health.leave() }, drained: drained)
    }
}
