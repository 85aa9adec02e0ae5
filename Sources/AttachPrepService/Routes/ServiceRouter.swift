import HTTPTypes
import Hummingbird

/// The endpoints behind their middleware.
enum ServiceRouter {
    /// - Parameter outer: what each request passes, the unknown ones too.
    static func router(
        _ endpoints: [Endpoint], outer: [any MiddlewareProtocol<Request, Response, ServiceContext>], gate: AccessGate
    ) -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self, options: .autoGenerateHeadEndpoints)
        for middleware in outer { router.add(middleware: middleware) }
        for endpoint in endpoints {
            router.group()
                .add(middleware: gate.middleware(for: endpoint.access))
                .add(middleware: Negotiation(produces: endpoint.produces, query: endpoint.query))
                .on(RouterPath(endpoint.path), method: endpoint.method, use: endpoint.respond)
        }
        return router
    }
}
