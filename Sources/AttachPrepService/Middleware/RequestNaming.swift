import HTTPTypes
import Hummingbird
import Logging

/// Gives each answer its request's name, and logs it in one line.
struct RequestNaming: RouterMiddleware {
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
        // Never the query: it may hold what somebody searches for.
        context.logger.debug(
            "answered",
            metadata: [
                "method": "\(request.method)", "path": "\(request.uri.path)", "status": "\(response.status.code)",
                "milliseconds": "\(milliseconds)",
            ])
        return response
    }
}
