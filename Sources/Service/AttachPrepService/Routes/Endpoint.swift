import AttachPrep
import AttachPrepModel
import HTTPTypes
import Hummingbird
import Logging
import MediaTypes
import NIOCore
import SafeArithmetic

struct Endpoint: Sendable {
    /// The authentication that a route requires.
    enum Access: Sendable {
        case anyone
        /// Callers with a token or session.
        case callers
        /// Callers with a token or session, and clients of `--metrics-network`; without tokens clients on this machine.
        case scrapers
    }

    /// A route for GET also answers HEAD.
    var method: HTTPRequest.Method
    /// As in OpenAPI: `/v1/jobs/{id}`.
    var path: String
    var access = Access.callers
    /// The roles of which a caller needs one.
    var roles: Set<Caller.Role> = [.read]
    /// The media type of a successful response, checked against `Accept`; nil without negotiation.
    var produces: String? = JSONResponse.mediaType
    /// The media type of a response to JSON Lines; nil when the route does not accept them.
    var producesForLines: String?
    /// The allowed query parameters; nil allows any.
    var query: Set<String>? = []
    var respond: @Sendable (Request, ServiceContext) async throws -> Response

    /// Whether a request's path matches this route.
    func matches(path requested: String) -> Bool {
        let parts = { (path: String) in path.split(separator: "/", omittingEmptySubsequences: true) }
        let (mine, theirs) = (parts(path), parts(requested))
        return mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
}

extension [Endpoint] {
    /// The value of the `Allow` header for a path; nil for an unknown path.
    func allowed(at path: String) -> String? {
        let matching = filter { $0.matches(path: path) }
        let literal = matching.filter { !$0.path.contains("{") }
        let methods = (literal.isEmpty ? matching : literal).flatMap {
            $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue]
        }
        return methods.isEmpty ? nil : methods.sorted().joined(separator: ", ")
    }
}

/// Builds the router: endpoints with their middleware.
enum ServiceRouter {
    /// - Parameter outer: middleware for all requests, including those to unknown paths.
    static func router(
        _ endpoints: [Endpoint], outer: [any MiddlewareProtocol<Request, Response, ServiceContext>],
        authenticator: Authenticator
    ) -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self, options: .autoGenerateHeadEndpoints)
        for middleware in outer { router.add(middleware: middleware) }
        for endpoint in endpoints {
            router.group()
                .add(middleware: authenticator.middleware(for: endpoint))
                .add(
                    middleware: NegotiationMiddleware(
                        produces: [endpoint.produces, endpoint.producesForLines].compactMap(\.self),
                        query: endpoint.query)
                )
                .on(RouterPath(endpoint.path), method: endpoint.method, use: endpoint.respond)
        }
        return router
    }
}

/// The context of a request: connection, request ID and caller.
struct ServiceContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// Identifies the request in responses and log lines.
    let requestID: String
    var identity = Caller.local
    /// The caller's name; `local` in a service without tokens.
    var caller: String { identity.name }
    /// The name of the caller's token; nil in a service without tokens.
    var token: String? { identity == .local ? nil : caller }

    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        requestID = source.logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? "unknown"
        logger[metadataKey: "hb.request.id"] = nil
        logger[metadataKey: "request"] = "\(requestID)"
    }

    /// The IP address of the peer; nil after it has disconnected.
    var peer: String? { channel.remoteAddress?.ipAddress }
}

/// Rejects requests whose `Accept` excludes the response's media type, and unknown query parameters.
struct NegotiationMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    /// Empty without negotiation.
    let produces: [String]
    let query: Set<String>?

    func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        let fields = request.headers[values: .accept]
        guard produces.isEmpty || produces.contains(where: { Self.accepts(fields, $0) }) else {
            throw Problem(
                .requestInvalid,
                "The response is \(produces.joined(separator: " or ")), which Accept excludes; add it there, or leave "
                    + "Accept out.",
                status: 406)
        }
        if let query, let unknown = QueryParameters(request).names.first(where: { !query.contains($0) }) {
            let known = query.isEmpty ? "none is allowed." : "allowed: \(query.sorted().joined(separator: ", "))."
            let meant = Suggestion.nearest(to: unknown, of: query.sorted()).map { "did you mean \"\($0)\"?" }
            throw Problem(
                .requestInvalid,
                "Unknown query parameter \"\(MessageText.excerpt(unknown, bytesMax: 80))\"; \(meant ?? known)")
        }
        return try await next(request, context)
    }

    /// Whether `Accept` fields allow a media type: the most specific range decides (RFC 9110, 12.5.1).
    static func accepts(_ fields: [String], _ type: String) -> Bool {
        let ranges = fields.flatMap { $0.split(separator: ",") }.map(AcceptedRange.init)
        guard !ranges.isEmpty else { return true }
        let family = type.prefix { $0 != "/" } + "/*"
        for name in [type, String(family), "*/*"] {
            let matching = ranges.filter { $0.name == name }
            if !matching.isEmpty { return matching.contains { $0.quality > 0 } }
        }
        return false
    }

    /// The weight of a media type that `Accept` fields name themselves, not by a range; nil if they do not.
    static func quality(_ fields: [String], of type: String) -> Double? {
        fields.flatMap { $0.split(separator: ",") }.map(AcceptedRange.init).filter { $0.name == type }.map(\.quality)
            .max()
    }

    private struct AcceptedRange {
        let name: String
        let quality: Double

        init(_ text: Substring) {
            let parts = text.split(separator: ";").map { $0.trimmingSpaces }
            name = parts.first?.lowercased() ?? ""
            let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }
            quality = weight.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
        }
    }
}

/// Adds the request ID to each response and logs it in one line, at level debug.
struct RequestLogMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        var response = try await next(request, context)
        response.headers[.requestID] = context.requestID
        response.headers[.xContentTypeOptions] = "nosniff"
        let milliseconds = ((ContinuousClock.now - start) / .milliseconds(1) * 1000).rounded() / 1000
        // Without the query, which may contain search terms.
        context.logger.debug(
            "answered",
            metadata: [
                "method": "\(request.method)", "path": "\(request.uri.path)",
                "status": .stringConvertible(response.status.code),
                "milliseconds": .stringConvertible(milliseconds),
            ])
        return response
    }
}
