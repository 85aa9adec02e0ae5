import AttachPrep
import AttachPrepModel
import FoundationEssentials
import HTTPTypes
import Hummingbird
package import MediaTypes
import SafeArithmetic

/// A session cookie of the dashboard: `<expiry>.<key ID>.<mac>`, signed with the digest of the caller's token.
///
/// The cookie does not contain the token, and sessions are not stored: every instance with the same tokens accepts it,
/// and it becomes invalid when its token is removed.
struct SessionCookie: Sendable {
    /// Whether the cookie is restricted to https and to this host (`Secure`, `__Host-`).
    let isSecure: Bool
    /// The name of the cookie, with the port and path of the service: browsers send a cookie to every port of a host
    /// name, so that two services there would end each other's sessions.
    let name: String

    /// - Parameters:
    ///   - baseURL: the public URL of the service; https makes the cookie secure.
    ///   - port: the port that the service listens on, for one without a public URL.
    init(baseURL: String?, port: Int) {
        let origin = baseURL.flatMap(WebOrigin.init)
        isSecure = origin?.isSecure ?? false
        let path = baseURL.map(Self.path(of:)) ?? ""
        // Browsers enforce `Secure`, `Path=/` and no `Domain` for the prefix `__Host-` (RFC 6265bis, 4.1.3.2).
        name = "\(isSecure ? "__Host-" : "")attachprep-\(origin?.port ?? port)\(path)"
    }

    /// The path of a URL as part of a cookie's name: `-push` for `https://media.example/push/`.
    private static func path(of url: String) -> String {
        let rest = url.split(separator: "://", maxSplits: 1).last?.drop { $0 != "/" } ?? ""
        return rest.split { !$0.isASCII || !($0.isLetter || $0.isNumber) }.map { "-\($0)" }.joined()
    }

    /// The `Set-Cookie` value that starts a session; nil for an invalid token.
    func field(for token: String, _ tokens: AccessTokens, at now: Date = .now) -> String? {
        let expiry = Int(clamping: now.timeIntervalSince1970).adding(clamping: Limits.sessionSecondsMax)
        guard let keyID = tokens.keyID(showing: token) else { return nil }
        let content = Self.content(expiry, keyID: keyID)
        guard let mac = tokens.signature(of: Self.purpose + content, keyID: keyID) else { return nil }
        return field("\(content).\(mac.hexadecimal)", seconds: Limits.sessionSecondsMax)
    }

    var cleared: String { field("", seconds: 0) }

    /// The caller of a request's session cookie; nil without a valid one.
    func caller(of request: Request, _ tokens: AccessTokens, at now: Date = .now) -> Caller? {
        let pairs = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.map { $0.trimmingSpaces }
        let shown = pairs.filter { $0.hasPrefix("\(name)=") }.prefix(Self.triedMax)
        return shown.lazy.compactMap { Self.caller(in: $0.dropFirst(name.count + 1), tokens, at: now) }.first
    }

    private func field(_ value: String, seconds: Int) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    /// Cookies of this name that are checked: normally one, or two if another site on the host set one for a longer
    /// path.
    private static let triedMax = 4
    /// Domain separation: a signature made for another purpose is not a valid session.
    private static let purpose = "attachprep session\0"

    private static func content(_ expiry: Int, keyID: String) -> String { "\(expiry).\(keyID)" }

    /// The caller of a cookie's value; nil if it is malformed, forged or expired, or if its token is no longer valid.
    static func caller(in value: Substring, _ tokens: AccessTokens, at now: Date) -> Caller? {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let expiry = Int(parts[0]), Double(expiry) > now.timeIntervalSince1970 else {
            return nil
        }
        return tokens.signer(of: purpose + content(expiry, keyID: parts[1]), with: parts[2], keyID: parts[1])
    }
}

/// Protection against cross-site request forgery: a session is valid only for the service's own page.
enum SessionPolicy {
    /// The problem for a cross-site request with a session; nil if the request is allowed. GET and HEAD are always
    /// allowed, since another site's page cannot read the response.
    static func problemResponse(to request: Request) -> Problem? {
        guard request.method != .get, request.method != .head, !isSameOrigin(request) else { return nil }
        return Problem(
            .requestUnauthorized,
            "Sessions are valid only for this service's own page; send a token in Authorization.",
            status: 403)
    }

    /// Browsers without `Sec-Fetch-Site` send `Origin` with every method other than GET and HEAD.
    private static func isSameOrigin(_ request: Request) -> Bool {
        if let site = request.headers[.secFetchSite] { return site == "same-origin" }
        guard let origin = request.headers[.origin].flatMap(WebOrigin.init), let authority = request.head.authority
        else { return false }
        return origin.isNamed(by: authority)
    }
}

/// A web origin: scheme, host and port (RFC 6454).
struct WebOrigin: Hashable {
    private let scheme: String
    /// With an IPv6 address in brackets.
    private let host: String
    let port: Int

    /// The origin of an http or https URL; nil for anything else.
    init?(_ url: String) {
        guard url.contains("://"), let address = try? WebAddress(url) else { return nil }
        scheme = String(address.origin.prefix { $0 != ":" })
        host = address.host.contains(":") ? "[\(address.host)]" : address.host
        port = address.port
    }

    var isSecure: Bool { scheme == "https" }

    /// Serialized for an `Origin` header or a content security policy, without the scheme's default port.
    var text: String { isUsual ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)" }

    /// Whether a `Host` header names this origin's host and port; it does not contain the scheme.
    func isNamed(by authority: String) -> Bool {
        let requested = authority.lowercased()
        return requested == "\(host):\(port)" || (isUsual && requested == host)
    }

    private var isUsual: Bool { port == (isSecure ? 443 : 80) }
}

extension Limits {
    /// The lifetime of a browser session: a working day.
    package static let sessionSecondsMax = 12 * 3600
}
