import HTTPTypes
import Hummingbird
import RichPush

/// `/v1/session`: a browser shows a token once, and keeps a cookie that no script can read.
struct SessionRoutes: Sendable {
    let gate: AccessGate

    var endpoints: [Endpoint] {
        let path = "/v1/session"
        return [
            Endpoint(method: .get, path: path, access: .everybody, respond: show),
            Endpoint(method: .post, path: path, access: .everybody, respond: begin),
            Endpoint(method: .delete, path: path, access: .everybody, respond: end),
        ]
    }

    @Sendable private func show(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let isKnown = try gate.tokens.isRequired && gate.known(request) != nil
        // Who tries tokens here is slowed down as anywhere else.
        if gate.tokens.isRequired, !isKnown, gate.showsToken(request) { throw gate.refusal(context) }
        return try JSONAnswer.response(answer(isAuthorized: isKnown))
    }

    @Sendable private func begin(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let order: SessionOrder = try await JSONBody.read(request, context, bytesMax: Limits.sessionBytesMax)
        guard gate.tokens.isRequired else { return try JSONAnswer.response(answer(isAuthorized: true)) }
        guard let field = gate.session.field(for: order.token, gate.tokens) else { throw gate.refusal(context) }
        return try JSONAnswer.response(answer(isAuthorized: true), headers: [.setCookie: field])
    }

    @Sendable private func end(_ request: Request, _ context: ServiceContext) async throws -> Response {
        try JSONAnswer.response(answer(isAuthorized: false), headers: [.setCookie: gate.session.cleared])
    }

    private func answer(isAuthorized: Bool) -> SessionAnswer {
        SessionAnswer(required: gate.tokens.isRequired, authorized: isAuthorized || !gate.tokens.isRequired)
    }
}

/// A token that is to be known for a while.
struct SessionOrder: JSONOrder {
    static let keys: Set = ["token"]

    let token: String
}

/// Whether a token is asked for, and whether who asks is known.
struct SessionAnswer: Encodable {
    var required: Bool
    var authorized: Bool
}
