import Hummingbird

/// Without tokens: keeps out what a web page or another machine might send.
struct LoopbackWall: RouterMiddleware {
    typealias Context = ServiceContext

    /// The host that phones are told to fetch from: it may stand in front of `/media`.
    let mediaHost: String?

    func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        if let problem = LoopbackRule.objection(to: request), !isMedia(request) { throw problem }
        return try await next(request, context)
    }

    private func isMedia(_ request: Request) -> Bool {
        guard let mediaHost, let authority = request.head.authority else { return false }
        return request.uri.path.hasPrefix("/media/") && LoopbackRule.host(of: authority).lowercased() == mediaHost
    }
}
