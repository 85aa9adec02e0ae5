import AttachPrepModel
import HTTPTypes
import Hummingbird
import Logging
import MediaTypes
import NIOCore
import ServiceLifecycle
import Synchronization

/// `/healthz`, `/readyz` and `/metrics`.
final class HealthRoutes: Sendable {
    private let metricsPage: @Sendable (ExpositionFormat) async -> String
    private let readiness: @Sendable () async -> ReadinessReport
    private let isStopping = Atomic(false)

    init(
        metricsPage: @escaping @Sendable (ExpositionFormat) async -> String,
        readiness: @escaping @Sendable () async -> ReadinessReport
    ) {
        self.metricsPage = metricsPage
        self.readiness = readiness
    }

    /// Makes `/readyz` answer 503 from now on, so that load balancers send requests elsewhere.
    func markNotReady() {
        isStopping.store(true, ordering: .relaxed)
    }

    var endpoints: [Endpoint] {
        [
            Endpoint(method: .get, path: "/healthz", access: .anyone, query: nil, respond: health),
            Endpoint(method: .get, path: "/readyz", access: .anyone, query: nil, respond: ready),
            Endpoint(
                method: .get, path: "/metrics", access: .scrapers, produces: nil, query: nil,
                respond: metrics),
        ]
    }

    @Sendable private func health(_ request: Request, in context: ServiceContext) async throws -> Response {
        try JSONResponse.response(["status": "ok"])
    }

    @Sendable func report() async -> ReadinessReport {
        if isStopping.load(ordering: .relaxed) { return ReadinessReport(reasons: ["The service is stopping."]) }
        return await readiness()
    }

    @Sendable private func ready(_ request: Request, in context: ServiceContext) async throws -> Response {
        let report = await report()
        return try JSONResponse.response(report, status: report.ready ? .ok : .serviceUnavailable)
    }

    @Sendable private func metrics(_ request: Request, in context: ServiceContext) async throws -> Response {
        let format = ExpositionFormat(accept: request.headers[values: .accept])
        let headers: HTTPFields = [.contentType: format.contentType, .cacheControl: "no-store"]
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: await metricsPage(format))))
    }
}

/// Whether the service can accept and process jobs, and why not.
public struct ReadinessReport: Codable, Sendable, Hashable {
    public var ready: Bool
    /// One sentence each; empty if ready.
    public var reasons: [String]

    public init(reasons: [String] = []) {
        ready = reasons.isEmpty
        self.reasons = reasons
    }
}

/// The HTTP front end of a worker: `/healthz`, `/readyz` and `/metrics`, with the access of a service.
struct ProbeService: HTTPFrontend {
    let boundPort = BoundPort()
    private let health: HealthRoutes
    private let settings: ServiceSettings
    private let tokens: AccessTokens
    private let metrics: HTTPMetrics?
    private let logger: Logger
    private let drained: @Sendable () async -> Void

    /// - Parameter drained: returns when running jobs have ended after the start of graceful shutdown.
    init(
        health: HealthRoutes, settings: ServiceSettings, tokens: AccessTokens, metrics: HTTPMetrics? = nil,
        logger: Logger,
        drained: @escaping @Sendable () async -> Void = {}
    ) {
        (self.health, self.settings, self.tokens, self.metrics) = (health, settings, tokens, metrics)
        (self.logger, self.drained) = (logger, drained)
    }

    func run() async throws {
        let front = HTTPApplication(
            endpoints: health.endpoints,
            authenticator: Authenticator(tokens: tokens, settings: settings),
            settings: settings, port: boundPort, logger: logger, metrics: metrics, enforcesLoopback: false)
        defer { boundPort.end() }
        try await front.run(stopping: { health.markNotReady() }, drained: drained)
    }
}
