import AttachPrep
import HTTPTypes
import Hummingbird
import OTLP
import Tracing

/// Records a span for each request, as a child of the caller's span if the request names one.
///
/// Probes and scrapes, which come every few seconds, are recorded only if they name one. A span ends with the
/// response's head, as the duration in the metrics does.
struct RequestSpanMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    let tracer: any Tracer

    func handle(
        _ request: Request, context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let caller = TraceHeaders(request.headers)
        guard caller != nil || !Self.probes.contains(request.uri.path) else { return try await next(request, context) }
        return try await tracer.withSpan(
            "HTTP", context: caller?.context(tracer) ?? .topLevel, ofKind: .server
        ) { span in
            let response = try await next(request, context)
            guard span.isRecording else { return response }
            // The router gives unknown paths and methods a name instead of a path.
            let route = context.endpointPath.flatMap { $0.hasPrefix("/") ? $0 : nil }
            // Names of other methods could be anything.
            let method = Self.methods.contains(request.method) ? request.method.rawValue : nil
            span.operationName = [method ?? "HTTP", route].compactMap(\.self).joined(separator: " ")
            let status = response.status.code
            span.updateAttributes { attributes in
                attributes["http.request.method"] = method ?? "_OTHER"
                attributes["http.route"] = route
                attributes["http.response.status_code"] = status
                attributes["url.scheme"] = "http"
                attributes["attachprep.request.id"] = context.requestID
                if status >= 500 { attributes["error.type"] = String(status) }
            }
            if status >= 500 { span.setStatus(SpanStatus(code: .error)) }
            return response
        }
    }

    private static let methods: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect,
    ]
    private static let probes: Set<String> = ["/healthz", "/readyz", "/metrics"]
}

extension TraceHeaders {
    /// The headers of a request; nil without a `traceparent`, or with several.
    fileprivate init?(_ headers: HTTPFields) {
        guard let parentName = HTTPField.Name(TraceContext.parentHeader),
            let stateName = HTTPField.Name(TraceContext.stateHeader)
        else { return nil }
        let (parents, states) = (headers[values: parentName], headers[values: stateName])
        guard parents.count == 1 else { return nil }
        self.init(traceparent: parents[0], tracestate: states.isEmpty ? nil : states.joined(separator: ","))
    }
}
