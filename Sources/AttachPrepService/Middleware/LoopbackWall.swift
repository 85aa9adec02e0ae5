import AttachPrepJobs
import Hummingbird

/// Without tokens: keeps out what a web page or another machine might send.
struct LoopbackWall: RouterMiddleware {
    typealias Context = ServiceContext

    /// The host that phones know: it may stand in front of what is theirs, `/media` and `/v1/receipts`.
    let mediaHost: String?

    func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        if let problem = LoopbackRule.objection(to: request), !isOfPhone(request) { throw problem }
        return try await next(request, context)
    }

    private func isOfPhone(_ request: Request) -> Bool {
        guard let mediaHost, let authority = request.head.authority else { return false }
        let isTheirs = request.uri.path.hasPrefix("/media/") || request.uri.path == ReceiptOffice.path
        return isTheirs && LoopbackRule.host(of: authority).lowercased() == mediaHost
    }
}
