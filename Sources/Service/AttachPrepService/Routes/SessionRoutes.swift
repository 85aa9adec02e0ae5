import HTTPTypes
import Hummingbird
package import RichPush

/// `/v1/session`: exchanges a token for a session cookie that scripts cannot read.
struct SessionRoutes: Sendable {
    let authenticator: Authenticator

    var endpoints: [Endpoint] {
        let path = "/v1/session"
        return [
            Endpoint(method: .get, path: path, access: .anyone, respond: show),
            Endpoint(method: .post, path: path, access: .anyone, respond: begin),
            Endpoint(method: .delete, path: path, access: .anyone, respond: end),
        ]
    }

    @Sendable private func show(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let isKnown = try authenticator.tokens.isRequired && authenticator.known(request) != nil
        // Limits guessing of tokens, as on all other routes.
        if authenticator.tokens.isRequired, !isKnown, authenticator.showsToken(request) {
            throw authenticator.unauthorizedProblem(context)
        }
        return try JSONResponse.response(answer(isAuthorized: isKnown))
    }

    @Sendable private func begin(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let body: SessionRequest = try await JSONBody.read(request, context, bytesMax: Limits.sessionBytesMax)
        guard authenticator.tokens.isRequired else { return try JSONResponse.response(answer(isAuthorized: true)) }
        guard let field = authenticator.session.field(for: body.token, authenticator.tokens) else {
            throw authenticator.unauthorizedProblem(context)
        }
        return try JSONResponse.response(answer(isAuthorized: true), headers: [.setCookie: field])
    }

    @Sendable private func end(_ request: Request, _ context: ServiceContext) async throws -> Response {
        try JSONResponse.response(answer(isAuthorized: false), headers: [.setCookie: authenticator.session.cleared])
    }

    private func answer(isAuthorized: Bool) -> SessionResponse {
        SessionResponse(
            required: authenticator.tokens.isRequired, authorized: isAuthorized || !authenticator.tokens.isRequired)
    }
}

struct SessionRequest: JSONRequest {
    static let keys: Set = ["token"]

    let token: String
}

/// Whether the service requires a token, and whether the request is authorized.
struct SessionResponse: Encodable {
    var required: Bool
    var authorized: Bool
}

extension Limits {
    /// Body of an unauthenticated sign-in request: the longest token with every character escaped.
    package static let sessionBytesMax = 4_096
}
