import AttachPrepJobs
import AttachPrepModel
import HTTPTypes
import Hummingbird
import RichPush

/// The policy of a service without tokens: only clients on this machine, and no requests from other sites' web pages
/// (DNS rebinding, cross-site requests).
enum LoopbackPolicy {
    static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased()
        if ["localhost", "::1", "[::1]"].contains(host) || host.hasSuffix(".localhost") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        if host.hasPrefix("::ffff:") { return isLoopback(String(host.dropFirst(7))) }
        return parts.count == 4 && parts.allSatisfy { $0 != nil } && parts[0] == 127
    }

    /// Rejects a listening address that is not loopback if there are no tokens.
    ///
    /// - Throws: `request.invalid`.
    static func check(host: String, tokens: AccessTokens) throws {
        guard !tokens.isRequired, !isLoopback(host) else { return }
        throw AttachPrepError(
            .requestInvalid,
            "--host \(host) is not a loopback address, which is required without tokens; "
                + "set tokens (ATTACHPREP_TOKENS or --token-file) or omit --host.")
    }

    /// The host of a `Host` header, without its port.
    static func host(of authority: String) -> String {
        if authority.hasPrefix("[") { return String(authority.prefix { $0 != "]" }) + "]" }
        return String(authority.prefix { $0 != ":" })
    }

    /// The host of a URL, in lowercase.
    static func host(ofURL url: String) -> String? {
        let parts = url.split(separator: "://", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        return host(of: String(parts[1].prefix { $0 != "/" })).lowercased()
    }

    static func problemResponse(to request: Request) -> Problem? {
        guard let authority = request.head.authority, isLoopback(host(of: authority)) else {
            return Problem(
                .requestUnauthorized,
                "The request's Host is not localhost, 127.0.0.1 or [::1]; the service accepts no other without tokens.",
                status: 403)
        }
        let site = request.headers[.secFetchSite]
        let origin = request.headers[.origin].map { host(ofURL: $0) ?? $0 }
        guard site == "cross-site" || site == "same-site" || origin.map({ !isLoopback($0) }) == true else {
            return nil
        }
        return Problem(
            .requestUnauthorized, "Requests from other sites' web pages are not accepted without tokens.",
            status: 403)
    }
}

extension HTTPField.Name {
    static let secFetchSite = known("Sec-Fetch-Site")
    static let prefer = known("Prefer")
    static let preferenceApplied = known("Preference-Applied")
    static let idempotencyKey = known("Idempotency-Key")
    static let requestID = known("X-Request-Id")
    static let idempotencyReplayed = known("Idempotency-Replayed")
    static let resourcePolicy = known("Cross-Origin-Resource-Policy")
    static let openerPolicy = known("Cross-Origin-Opener-Policy")
    static let referrerPolicy = known("Referrer-Policy")

    private static func known(_ name: String) -> HTTPField.Name {
        guard let field = HTTPField.Name(name) else { preconditionFailure("\(name) is a header's name") }
        return field
    }
}

/// Enforces `LoopbackPolicy` in a service without tokens.
struct LoopbackMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    /// The public host, which is also accepted for the routes of devices: `/media` and `/v1/receipts`.
    let mediaHost: String?

    func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        if let problem = LoopbackPolicy.problemResponse(to: request), !isDeviceRequest(request) { throw problem }
        return try await next(request, context)
    }

    private func isDeviceRequest(_ request: Request) -> Bool {
        guard let mediaHost, let authority = request.head.authority else { return false }
        let isDeviceRoute = request.uri.path.hasPrefix("/media/") || request.uri.path == ReceiptService.path
        return isDeviceRoute && LoopbackPolicy.host(of: authority).lowercased() == mediaHost
    }
}
