import AttachPrepModel
import HTTPTypes
import Hummingbird
package import MediaTypes

/// `/v1/session`: exchanges a token for a session cookie that scripts cannot read.
struct SessionRoutes: Sendable {
    let authenticator: Authenticator
    let environment: ServiceEnvironment?

    var endpoints: [Endpoint] {
        let path = "/v1/session"
        return [
            Endpoint(method: .get, path: path, access: .anyone, respond: show),
            Endpoint(method: .post, path: path, access: .anyone, respond: begin),
            Endpoint(method: .delete, path: path, access: .anyone, respond: end),
        ]
    }

    @Sendable private func show(_ request: Request, in context: ServiceContext) async throws -> Response {
        guard authenticator.tokens.isRequired else { return try JSONResponse.response(answer(.local)) }
        let caller = try authenticator.caller(of: request)
        // Limits guessing of tokens, as on all other routes.
        if caller == nil, authenticator.showsToken(request) { throw authenticator.unauthorizedProblem(context) }
        return try JSONResponse.response(answer(caller))
    }

    @Sendable private func begin(_ request: Request, in context: ServiceContext) async throws -> Response {
        let body: SessionRequest = try await JSONBody.read(request, context, bytesMax: Limits.sessionBytesMax)
        guard authenticator.tokens.isRequired else { return try JSONResponse.response(answer(.local)) }
        guard let caller = authenticator.tokens.caller(showing: body.token),
            let field = authenticator.session.field(for: body.token, authenticator.tokens)
        else {
            var problem = authenticator.unauthorizedProblem(context)
            if problem.code == .requestUnauthorized {
                problem.detail = "This token is not valid here; check it against the service's token file."
            }
            throw problem
        }
        return try JSONResponse.response(answer(caller), headers: [.setCookie: field])
    }

    @Sendable private func end(_ request: Request, in context: ServiceContext) async throws -> Response {
        try JSONResponse.response(
            answer(authenticator.tokens.isRequired ? nil : .local),
            headers: [.setCookie: authenticator.session.cleared])
    }

    private func answer(_ caller: Caller?) -> SessionResponse {
        SessionResponse(
            required: authenticator.tokens.isRequired, authorized: caller != nil,
            caller: authenticator.tokens.isRequired ? caller?.name : nil,
            roles: Caller.Role.allCases.filter { caller?.roles.contains($0) ?? false }.map(\.rawValue),
            environment: environment)
    }
}

struct SessionRequest: JSONRequest {
    static let keys: Set = ["token"]

    let token: String
}

/// Whether the service requires a token, whether and as whom the request is authorized, and which environment it is.
struct SessionResponse: Encodable {
    var required: Bool
    var authorized: Bool
    /// The name of the token; null without one.
    @Nullable var caller: String?
    var roles: [String]
    /// What the dashboard shows beside its name; null without one.
    @Nullable var environment: ServiceEnvironment?
}

extension Limits {
    /// Body of an unauthenticated sign-in request: the longest token with every character escaped.
    package static let sessionBytesMax = 4_096
}
