import HTTPTypes
import Hummingbird
import Metrics

/// The durations of HTTP requests.
///
/// A duration ends with the response's head: how long the body takes depends on the client's network, and event streams
/// never end.
struct HTTPMetrics: Sendable {
    static let secondsLabel = "attachprep_http_request_duration_seconds"
    /// From a cached answer (1 ms) to the longest `Prefer: wait`.
    static let buckets: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
    /// Value of the label `route` for requests that match no route.
    static let unknownRoute = "unknown"

    private let factory: any MetricsFactory

    init(factory: any MetricsFactory) { self.factory = factory }

    /// - Parameters:
    ///   - route: the path's template, such as `/v1/jobs/{id}`; nil if no route has the path and method.
    ///   - code: the status code.
    func record(_ method: HTTPRequest.Method, route: String?, code: Int, took duration: Duration) {
        // Any method of an unknown route would be a series of its own.
        let method = route == nil ? "" : method.rawValue
        let labels = [("method", method), ("route", route ?? Self.unknownRoute), ("code", String(code))]
        Timer(label: Self.secondsLabel, dimensions: labels, factory: factory)
            .recordSeconds(duration / .seconds(1))
    }
}

/// Records the duration of each request.
struct RequestMetricsMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    let metrics: HTTPMetrics

    func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let response = try await next(request, context)
        // The router gives unknown paths and methods a name instead of a path.
        let route = context.endpointPath.flatMap { $0.hasPrefix("/") ? $0 : nil }
        metrics.record(request.method, route: route, code: response.status.code, took: start.duration(to: .now))
        return response
    }
}
