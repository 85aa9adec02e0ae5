import AttachPrep
import AttachPrepModel
import HTTPTypes
import Hummingbird
import Logging
import MediaTypes

struct Authenticator: Sendable {
    let tokens: AccessTokens
    let session: SessionCookie
    /// Their clients need no token for metrics.
    private let metricsNetworks: [AddressBlock]
    /// By caller.
    private let requests: RateLimiter
    /// By address, for requests with an invalid token.
    private let wrongTokens: RateLimiter

    init(
        tokens: AccessTokens, session: SessionCookie, metricsNetworks: [AddressBlock], requestsPerSecondMax: Double,
        wrongTokensPerSecondMax: Double
    ) {
        (self.tokens, self.session, self.metricsNetworks) = (tokens, session, metricsNetworks)
        requests = RateLimiter(perSecond: requestsPerSecondMax, namesMax: Limits.tokensMax * 2)
        wrongTokens = RateLimiter(perSecond: wrongTokensPerSecondMax, namesMax: Limits.countedAddressesMax)
    }

    /// Changes the number of requests per second for each token.
    func change(requestsPerSecond: Double) { requests.change(perSecond: requestsPerSecond) }

    func middleware(for endpoint: Endpoint) -> AuthenticationMiddleware {
        AuthenticationMiddleware(authenticator: self, access: endpoint.access, roles: endpoint.roles)
    }

    /// The caller; nil for an endpoint without authentication.
    ///
    /// - Throws: A problem with status 401, 403 or 429.
    func caller(of request: Request, _ context: ServiceContext, access: Endpoint.Access) throws -> Caller? {
        guard access != .anyone else { return nil }
        if access == .scrapers, isScraper(request, in: context) { return .local }
        guard tokens.isRequired else {
            guard access == .scrapers else { return .local }
            throw Problem(
                .requestUnauthorized,
                "Without tokens, metrics are for clients on this machine; the operator can set tokens or allow a "
                    + "network.",
                status: 403)
        }
        guard let caller = try caller(of: request) else { throw unauthorizedProblem(context) }
        return caller
    }

    /// The caller identified by the request's token or session cookie; nil without a valid one.
    ///
    /// - Throws: A problem with status 403 for a session cookie sent from another site's page.
    func caller(of request: Request) throws -> Caller? {
        if let token = Self.token(in: request) { return tokens.caller(showing: token) }
        guard let caller = session.caller(of: request, tokens) else { return nil }
        if let problem = SessionPolicy.problemResponse(to: request) { throw problem }
        return caller
    }

    /// Whether a request contains a token, valid or not.
    func showsToken(_ request: Request) -> Bool { Self.token(in: request) != nil }

    /// The problem for a request without a valid token: 401, or 429 after too many from its address.
    func unauthorizedProblem(_ context: ServiceContext) -> Problem {
        // Requests with a valid token are not counted: behind a proxy all clients have the same address.
        if let seconds = wrongTokens.consume(context.peer ?? "") {
            return Problem(
                .requestRateLimited, "Too many requests without a valid token from this address; retry later."
            )
            .retrying(after: seconds)
        }
        var problem = Problem(
            .requestUnauthorized, "No valid token; send one as Authorization: Bearer <token>.")
        problem.fields[.wwwAuthenticate] = "Bearer"
        return problem
    }

    /// The problem for a caller without any of the roles that a request needs.
    static func roleProblem(_ caller: Caller, _ roles: Set<Caller.Role>) -> Problem {
        let needed = roles.map(\.rawValue).sorted().joined(separator: " or ")
        return Problem(
            .requestUnauthorized,
            "The token \"\(caller.name)\" lacks the role \(needed) that this request needs; the service's operator "
                + "gives roles in the token file.", status: 403)
    }

    /// Counts a request of a caller.
    ///
    /// - Throws: A problem with status 429.
    func count(_ caller: Caller) throws {
        guard let seconds = requests.consume(caller.name) else { return }
        throw Problem(.requestRateLimited, "Too many requests per second with this token; retry later.")
            .retrying(after: seconds)
    }

    private static func token(in request: Request) -> String? {
        guard let field = request.headers[.authorization] else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1].drop { $0 == " " })
    }

    /// Whether a client may read metrics without a token: its address is in `--metrics-network`, or of this machine if
    /// there are no tokens, and the request has no header that a proxy adds.
    ///
    /// A proxy that adds none of these headers (the default of nginx) is indistinguishable from a client at its
    /// address, so a service with tokens trusts no address by itself. A client on this machine also needs a loopback
    /// `Host`, since a web page in its browser can give a name to that address (DNS rebinding).
    private func isScraper(_ request: Request, in context: ServiceContext) -> Bool {
        guard let peer = context.peer, !Self.isForwarded(request) else { return false }
        let isLocal = LoopbackPolicy.isLoopback(peer)
        let isAllowed =
            isLocal && !tokens.isRequired
            || IPAddress(peer).map { address in metricsNetworks.contains { $0.contains(address) } } ?? false
        let host = request.head.authority.map(LoopbackPolicy.host(of:))
        return isAllowed && (!isLocal || host.map(LoopbackPolicy.isLoopback) == true)
    }

    private static func isForwarded(_ request: Request) -> Bool {
        request.headers.contains { field in
            let name = field.name.canonicalName
            return name.hasPrefix("x-forwarded") || ["forwarded", "via", "x-real-ip"].contains(name)
        }
    }
}

struct AuthenticationMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    let authenticator: Authenticator
    let access: Endpoint.Access
    let roles: Set<Caller.Role>

    func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        if let caller = try authenticator.caller(of: request, context, access: access) {
            try authenticator.count(caller)
            guard !caller.roles.isDisjoint(with: roles) else { throw Authenticator.roleProblem(caller, roles) }
            context.identity = caller
            context.logger[metadataKey: "caller"] = "\(caller.name.prefix(Limits.callerNameCharactersMax))"
        }
        return try await next(request, context)
    }
}
