import HTTPTypes
import Hummingbird
import Logging
import RichPush

/// Who may ask, and how often.
struct AccessGate: Sendable {
    let tokens: AccessTokens
    let session: SessionCookie
    private let trustsLoopback: Bool
    /// Of each caller.
    private let requests: TokenBuckets
    /// Of each address that shows wrong tokens.
    private let wrongTokens: TokenBuckets

    init(tokens: AccessTokens, settings: ServiceSettings) {
        self.tokens = tokens
        session = SessionCookie(baseURL: settings.baseURL)
        trustsLoopback = settings.showsMetricsToLoopback
        requests = TokenBuckets(perSecond: settings.requestsPerSecondMax, namesMax: Limits.tokensMax * 2)
        wrongTokens = TokenBuckets(
            perSecond: settings.wrongTokensPerSecondMax, namesMax: Limits.countedAddressesMax)
    }

    func middleware(for access: Endpoint.Access) -> GateMiddleware {
        GateMiddleware(gate: self, access: access)
    }

    /// The name of who asks.
    ///
    /// - Throws: a problem with 401, 403 or 429.
    func caller(of request: Request, _ context: ServiceContext, access: Endpoint.Access) throws -> String? {
        guard access != .everybody else { return nil }
        guard tokens.isRequired else { return "local" }
        if let caller = try known(request) { return caller }
        if access == .callersAndLoopback, trustsLoopback, Self.isFromHere(request, context) { return "local" }
        throw refusal(context)
    }

    /// The caller whose token or session a request shows; nil for neither.
    ///
    /// - Throws: a problem with 403 for a session that another site's page makes use of.
    func known(_ request: Request) throws -> String? {
        if let token = Self.token(in: request) { return tokens.caller(showing: token) }
        guard let caller = session.caller(of: request, tokens) else { return nil }
        if let problem = SessionRule.objection(to: request) { throw problem }
        return caller
    }

    /// Whether a request shows a token, a wrong one too.
    func showsToken(_ request: Request) -> Bool { Self.token(in: request) != nil }

    /// What somebody is told who shows no valid token: 401, or 429 when his address has shown too many.
    func refusal(_ context: ServiceContext) -> Problem {
        // A right token always passes: behind a proxy everybody has the same address.
        if let seconds = wrongTokens.take(context.peer ?? "") {
            return Problem(.requestRateLimited, "Too many requests from this address show no valid token; slow down.")
                .retrying(after: seconds)
        }
        var problem = Problem(
            .requestUnauthorized, "Show one of the service's tokens, as in Authorization: Bearer <token>.")
        problem.fields[.wwwAuthenticate] = "Bearer"
        return problem
    }

    /// - Throws: a problem with 429.
    func count(_ caller: String) throws {
        guard let seconds = requests.take(caller) else { return }
        throw Problem(.requestRateLimited, "This token has made too many requests in a second; come back later.")
            .retrying(after: seconds)
    }

    private static func token(in request: Request) -> String? {
        guard let field = request.headers[.authorization] else { return nil }
        let words = field.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        return String(words[1].drop { $0 == " " })
    }

    /// Whether a request came from this machine, as far as can be seen: a proxy here that sends none of these fields
    /// and a loopback `Host` (nginx does so unless it is told otherwise) cannot be told from a caller. So this is a
    /// setting.
    private static func isFromHere(_ request: Request, _ context: ServiceContext) -> Bool {
        guard let peer = context.peer, LoopbackRule.isLoopback(peer), let authority = request.head.authority,
            LoopbackRule.isLoopback(LoopbackRule.host(of: authority))
        else { return false }
        return !request.headers.contains { field in
            let name = field.name.canonicalName
            return name.hasPrefix("x-forwarded") || ["forwarded", "via", "x-real-ip"].contains(name)
        }
    }
}

/// The gate before one endpoint.
struct GateMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    let gate: AccessGate
    let access: Endpoint.Access

    func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        if let caller = try gate.caller(of: request, context, access: access) {
            try gate.count(caller)
            context.caller = caller
            context.logger[metadataKey: "caller"] = "\(caller.prefix(8))"
        }
        return try await next(request, context)
    }
}
