import HTTPTypes
import Hummingbird
import RichPush

/// What holds for a service without tokens: only this machine, and no web page that its user happens to look at.
enum LoopbackRule {
    /// Whether a name or an address is this machine's own.
    static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased()
        if ["localhost", "::1", "[::1]"].contains(host) || host.hasSuffix(".localhost") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        if host.hasPrefix("::ffff:") { return isLoopback(String(host.dropFirst(7))) }
        return parts.count == 4 && parts.allSatisfy { $0 != nil } && parts[0] == 127
    }

    /// - Throws: `request.invalid`.
    static func check(host: String, tokens: AccessTokens) throws {
        guard !tokens.isRequired, !isLoopback(host) else { return }
        throw AttachPrepError(
            .requestInvalid,
            "Without a token the service listens on loopback alone, and --host \(host) is not loopback; "
                + "give a token (ATTACHPREP_TOKENS or --token-file) or leave --host out.")
    }

    /// The host of a `Host` header, without its port.
    static func host(of authority: String) -> String {
        if authority.hasPrefix("[") { return String(authority.prefix { $0 != "]" }) + "]" }
        return String(authority.prefix { $0 != ":" })
    }

    /// The host of a URL, in small letters.
    static func host(ofURL url: String) -> String? {
        let parts = url.split(separator: "://", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        return host(of: String(parts[1].prefix { $0 != "/" })).lowercased()
    }

    /// Why a request is refused; nil when it may pass.
    static func objection(to request: Request) -> Problem? {
        guard let authority = request.head.authority, isLoopback(host(of: authority)) else {
            return Problem(
                .requestUnauthorized,
                "Without a token the service answers to localhost, 127.0.0.1 and [::1] alone; the Host is another one.",
                status: 403)
        }
        let site = request.headers[.secFetchSite]
        let origin = request.headers[.origin].map(originHost)
        guard site == "cross-site" || site == "same-site" || origin.map({ !isLoopback($0) }) == true else {
            return nil
        }
        return Problem(
            .requestUnauthorized, "Without a token the service takes no requests from web pages of other sites.",
            status: 403)
    }

    private static func originHost(_ origin: String) -> String {
        host(ofURL: origin) ?? origin
    }
}

extension HTTPField.Name {
    static let secFetchSite = known("Sec-Fetch-Site")
    static let prefer = known("Prefer")
    static let preferenceApplied = known("Preference-Applied")
    static let idempotencyKey = known("Idempotency-Key")
    static let requestID = known("X-Request-Id")
    static let idempotencyReplayed = known("Idempotency-Replayed")
    static let forwardedFor = known("X-Forwarded-For")
    static let forwarded = known("Forwarded")
    static let resourcePolicy = known("Cross-Origin-Resource-Policy")
    static let openerPolicy = known("Cross-Origin-Opener-Policy")
    static let referrerPolicy = known("Referrer-Policy")

    private static func known(_ name: String) -> HTTPField.Name {
        guard let field = HTTPField.Name(name) else { preconditionFailure("\(name) is a header's name") }
        return field
    }
}
