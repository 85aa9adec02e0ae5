import AttachPrepJobs
import AttachPrepModel
import HTTPTypes
import Hummingbird
import MediaTypes

/// The policy of a service without tokens: only clients on this machine, and no requests from other sites' web pages
/// (DNS rebinding, cross-site requests).
enum LoopbackPolicy {
    static func isLoopback(_ host: String) -> Bool {
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        let host = host.lowercased()
        if ["localhost", "::1", "[::1]"].contains(host) || host.hasSuffix(".localhost") { return true }
        if host.hasPrefix("::ffff:") { return isLoopback(String(host.dropFirst(7))) }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map(octet)
        return parts.count == 4 && parts.allSatisfy { $0 != nil } && parts[0] == 127
    }

    /// A part of an IPv4 address: digits only, since `UInt8` also reads "+127", and no leading zero, which some
    /// programs read as octal.
    private static func octet(_ text: Substring) -> UInt8? {
        let isNumber = text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        return isNumber && (text == "0" || text.utf8.first != UInt8(ascii: "0")) ? UInt8(text) : nil
    }

    /// Rejects a listening address that is not loopback if there are no tokens.
    ///
    /// - Throws: `request.invalid`.
    static func check(host: String, tokens: AccessTokens) throws {
        guard !tokens.isRequired, !isLoopback(host) else { return }
        throw AttachPrepError(
            .requestInvalid,
            "\(host) is not a loopback address, which is required without tokens; set tokens (ATTACHPREP_TOKENS or "
                + "--token-file), or omit it.")
    }

    /// The host of a `Host` header, without its port; the whole header when something else follows the host.
    static func host(of authority: String) -> String {
        let host =
            authority.hasPrefix("[")
            ? authority.prefix { $0 != "]" } + authority.drop { $0 != "]" }.prefix(1) : authority.prefix { $0 != ":" }
        let port = authority.utf8.dropFirst(host.utf8.count)
        let isPort = port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy { 0x30...0x39 ~= $0 }
        return port.isEmpty || isPort ? String(host) : authority
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
    static let secFetchSite = fieldName("Sec-Fetch-Site")
    static let prefer = fieldName("Prefer")
    static let preferenceApplied = fieldName("Preference-Applied")
    static let idempotencyKey = fieldName("Idempotency-Key")
    static let requestID = fieldName("X-Request-Id")
    static let batchCallbackURL = fieldName("Batch-Callback-URL")
    static let lastEventID = fieldName("Last-Event-ID")
    static let idempotencyReplayed = fieldName("Idempotency-Replayed")
    static let resourcePolicy = fieldName("Cross-Origin-Resource-Policy")
    static let openerPolicy = fieldName("Cross-Origin-Opener-Policy")
    static let referrerPolicy = fieldName("Referrer-Policy")

    private static func fieldName(_ name: String) -> HTTPField.Name {
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
