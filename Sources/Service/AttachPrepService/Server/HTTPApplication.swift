import AttachPrepModel
import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import MediaTypes
import NIOCore
import NIOPosix
import ServiceLifecycle
import Tracing

/// The HTTP server around endpoints: middleware, connection limits and listening address.
struct HTTPApplication: Sendable {
    let endpoints: [Endpoint]
    let authenticator: Authenticator
    let settings: ServiceSettings
    let port: BoundPort
    let logger: Logger
    /// Nil without metrics, as in tests.
    var metrics: HTTPMetrics?
    /// Nil without traces.
    var tracer: (any Tracer)?
    /// Whether only loopback clients are accepted when no token is configured.
    var enforcesLoopback = true

    /// Serves until graceful shutdown; from then on it answers only probes on new connections, so that `/readyz`
    /// reports that this instance is stopping, until `drained` returns.
    ///
    /// - Parameter stopping: called when graceful shutdown begins.
    func run(
        stopping: @escaping @Sendable () -> Void, drained: @escaping @Sendable () async -> Void
    ) async throws {
        let connections = ConnectionRegistry(
            limit: settings.connectionsMax, addressLimit: settings.connectionsPerAddressMax)
        let group = ServiceGroup(services: [make(connections)], logger: logger)
        // Detached: the application shuts down later than this task.
        let serving = Task.detached { try await group.run() }
        do {
            try await withTaskCancellationHandler {
                try await withGracefulShutdownHandler {
                    try await serving.value
                } onGracefulShutdown: {
                    stopping()
                    connections.drain()
                    Task {
                        await drained()
                        await group.triggerGracefulShutdown()
                    }
                }
            } onCancel: {
                serving.cancel()
            }
        } catch {
            throw BindErrors.describing(error, settings)
        }
    }

    private func make(_ connections: ConnectionRegistry) -> Application<RouterResponder<ServiceContext>> {
        var outer: [any MiddlewareProtocol<Request, Response, ServiceContext>] = [
            RequestLogMiddleware(), ProblemMiddleware(endpoints: endpoints),
        ]
        if let tracer { outer.insert(RequestSpanMiddleware(tracer: tracer), at: 0) }
        if let metrics { outer.insert(RequestMetricsMiddleware(metrics: metrics), at: 0) }
        if enforcesLoopback, !authenticator.tokens.isRequired {
            outer.append(LoopbackMiddleware(mediaHost: settings.baseURL.flatMap(LoopbackPolicy.host(ofURL:))))
        }
        let rules = ConnectionRules(settings)
        let (port, logger) = (port, logger)
        return Application(
            router: ServiceRouter.router(endpoints, outer: outer, authenticator: authenticator),
            server: HTTPServerBuilder { ServiceChannel(responder: $0, rules: rules, connections: connections) },
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: settings.port),
                availableConnectionsDelegate: .maximum(
                    settings.connectionsMax + Limits.rejectedConnectionsMax, logger: logger)),
            onServerRunning: { channel in
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(AcceptErrorHandler(logger: logger), position: .first)
                }.get()
                port.listens(on: channel.localAddress?.port ?? 0)
            },
            logger: logger)
    }
}

/// The port of a service, for tasks that wait until it listens.
public final class BoundPort: Sendable {
    private let port: Task<Int?, Never>
    private let ports: AsyncStream<Int>.Continuation

    init() {
        let (stream, ports) = AsyncStream.makeStream(of: Int.self)
        self.ports = ports
        port = Task { await stream.first { _ in true } }
    }

    /// Waits until the service listens; nil if it has ended without.
    public var value: Int? { get async { await port.value } }

    func listens(on port: Int) { ports.yield(port) }

    func end() { ports.finish() }
}

/// The base URL of a service without `--base-url`: the address that it listens on.
enum ListeningAddress {
    /// The http URL of a host and port, with an IPv6 address in brackets (RFC 3986, 3.2.2).
    static func url(host: String, port: Int) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// The settings with the listening address as base URL; port 0 is replaced by a free port.
    ///
    /// A service that listens on all addresses gets no base URL, since its public address is unknown.
    static func resolved(_ settings: ServiceSettings) throws -> ServiceSettings {
        var settings = settings
        guard !["0.0.0.0", "::", "*"].contains(settings.host) else { return settings }
        if settings.port == 0 { settings.port = try freePort() }
        settings.baseURL = url(host: settings.host, port: settings.port)
        return settings
    }

    private static func freePort() throws -> Int {
        do {
            let listener = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: "0.0.0.0", port: 0).wait()
            defer { try? listener.close().wait() }
            return listener.localAddress?.port ?? 0
        } catch {
            throw AttachPrepError(
                .internal, "No free port to listen on; set one with --port.", detail: "\(error)")
        }
    }
}

/// Translates an error of bind(2) or address parsing into a message for the operator.
enum BindErrors {
    static func describing(_ error: any Error, _ settings: ServiceSettings) -> any Error {
        let address = "\(settings.host):\(settings.port)"
        guard let error = error as? IOError else {
            guard error is SocketAddressError || "\(type(of: error))".contains("Address") else { return error }
            return AttachPrepError(
                .requestInvalid, "Cannot listen on \(address): --host is not an address of this machine.",
                detail: "\(error)")
        }
        let remedy =
            switch error.errnoCode {
            case EADDRINUSE: "the port is in use by another process; choose another port"
            case EACCES: "ports below 1024 require CAP_NET_BIND_SERVICE; choose another port"
            case EADDRNOTAVAIL: "--host is not an address of this machine"
            default: unsafe String(cString: strerror(error.errnoCode))
            }
        // `internal`, not `request.invalid`: the cause is the state of the machine and may go away.
        return AttachPrepError(
            .internal, "Cannot listen on \(address): \(remedy).", detail: "\(error)")
    }
}
