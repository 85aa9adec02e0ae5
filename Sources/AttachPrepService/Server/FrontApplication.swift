import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import RichPush

/// The HTTP server around endpoints: its walls, its limits, and where it listens.
struct FrontApplication: Sendable {
    let endpoints: [Endpoint]
    let gate: AccessGate
    let settings: ServiceSettings
    let port: BoundPort
    let logger: Logger
    /// Whether strangers of the network are kept out where there is no token.
    var hasLoopbackWall = true

    func make() -> Application<RouterResponder<ServiceContext>> {
        var outer: [any MiddlewareProtocol<Request, Response, ServiceContext>] = [
            RequestNaming(), ProblemAnswers(endpoints: endpoints),
        ]
        if hasLoopbackWall, !gate.tokens.isRequired {
            outer.append(LoopbackWall(mediaHost: settings.baseURL.flatMap(LoopbackRule.host(ofURL:))))
        }
        let rules = ConnectionRules(settings)
        let count = ConnectionCount(
            limit: settings.connectionsMax, addressLimit: settings.connectionsPerAddressMax)
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
