import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import RichPush
import ServiceLifecycle

/// The HTTP server around endpoints: its walls, its limits, and where it listens.
struct FrontApplication: Sendable {
    let endpoints: [Endpoint]
    let gate: AccessGate
    let settings: ServiceSettings
    let port: BoundPort
    let logger: Logger
    /// Whether strangers of the network are kept out where there is no token.
    var hasLoopbackWall = true

    /// Serves until it is asked to stop. From then on it answers probes alone, so that `/readyz` tells everybody that
    /// this instance is leaving, until `drained` returns.
    ///
    /// - Parameter stopping: called when it is asked to.
    func run(
        stopping: @escaping @Sendable () -> Void, drained: @escaping @Sendable () async -> Void
    ) async throws {
        let count = ConnectionCount(
            limit: settings.connectionsMax, addressLimit: settings.connectionsPerAddressMax)
        let group = ServiceGroup(services: [make(count)], logger: logger)
        // Detached: the application is asked to stop later than this task is.
        let serving = Task.detached { try await group.run() }
        do {
            try await withTaskCancellationHandler {
                try await withGracefulShutdownHandler {
                    try await serving.value
                } onGracefulShutdown: {
                    stopping()
                    count.drain()
                    Task {
                        await drained()
                        await group.triggerGracefulShutdown()
                    }
                }
            } onCancel: {
                serving.cancel()
            }
        } catch {
            throw BindFault.named(error, settings)
        }
    }

    private func make(_ count: ConnectionCount) -> Application<RouterResponder<ServiceContext>> {
        var outer: [any MiddlewareProtocol<Request, Response, ServiceContext>] = [
            RequestNaming(), ProblemAnswers(endpoints: endpoints),
        ]
        if hasLoopbackWall, !gate.tokens.isRequired {
            outer.append(LoopbackWall(mediaHost: settings.baseURL.flatMap(LoopbackRule.host(ofURL:))))
        }
        let rules = ConnectionRules(settings)
        let (port, logger) = (port, logger)
        return Application(
            router: ServiceRouter.router(endpoints, outer: outer, gate: gate),
            server: HTTPServerBuilder { ServiceChannel(responder: $0, rules: rules, count: count) },
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: settings.port),
                availableConnectionsDelegate: .maximum(
                    settings.connectionsMax + Limits.refusedConnectionsMax, logger: logger)),
            onServerRunning: { channel in
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(AcceptFaults(logger: logger), position: .first)
                }.get()
                port.listens(on: channel.localAddress?.port ?? 0)
            },
            logger: logger)
    }
}
