import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// What a machine asks about the service itself.
final class HealthRoutes: Sendable {
    private let metricsPage: @Sendable () async -> String
    private let readiness: @Sendable () async -> ReadinessReport
    private let isLeaving = Atomic(false)

    init(
        metricsPage: @escaping @Sendable () async -> String, readiness: @escaping @Sendable () async -> ReadinessReport
    ) {
        self.metricsPage = metricsPage
        self.readiness = readiness
    }

    /// From now on it is not ready: whoever sends requests here should send them elsewhere.
    func leave() {
        isLeaving.store(true, ordering: .relaxed)
    }

    var endpoints: [Endpoint] {
        [
            Endpoint(method: .get, path: "/healthz", access: .everybody, query: nil, respond: health),
            Endpoint(method: .get, path: "/readyz", access: .everybody, query: nil, respond: ready),
            Endpoint(
                method: .get, path: "/metrics", access: .callersAndLoopback, produces: nil, query: nil,
                respond: metrics),
        ]
    }

    @Sendable private func health(_ request: Request, _ context: ServiceContext) async throws -> Response {
        try JSONAnswer.response(["status": "ok"])
    }

    /// Whether it is ready now.
    @Sendable func report() async -> ReadinessReport {
        if isLeaving.load(ordering: .relaxed) { return ReadinessReport(reasons: ["The service is stopping."]) }
        return await readiness()
    }

    @Sendable private func ready(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let report = await report()
        return try JSONAnswer.response(report, status: report.ready ? .ok : .serviceUnavailable)
    }

    @Sendable private func metrics(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let headers: HTTPFields = [
            .contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store",
        ]
        return Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: await metricsPage())))
    }
}
