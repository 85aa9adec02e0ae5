import AttachPrep
import HTTPTypes
import Hummingbird
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A browser's right to ask as a caller: `<expiry>.<caller>.<mac>`, signed with that caller's token.
///
/// It holds no token and nobody keeps a list of them: every machine with the same tokens knows it, and without its
/// token it is worth nothing.
struct SessionCookie: Sendable {
    /// Whether browsers may send it over https alone, to this host alone.
    let isSecure: Bool

    /// - Parameter baseURL: where the service is reached from outside.
    init(baseURL: String?) {
        isSecure = baseURL.flatMap(WebOrigin.init)?.isSecure ?? false
    }

    /// The prefix has browsers hold to what is said of it (RFC 6265bis, 4.1.3.2).
    var name: String { isSecure ? "__Host-attachprep" : "attachprep" }

    /// The header that gives a browser a session; nil when the token is none of the service's.
    func field(for token: String, _ tokens: AccessTokens, at now: Date = .now) -> String? {
        let expiry = Int(clamping: now.timeIntervalSince1970).adding(clamping: Limits.sessionSecondsMax)
        guard let caller = tokens.caller(showing: token) else { return nil }
        let content = Self.content(expiry, caller)
        // Bounded: texts.
        guard let mac = tokens.signature(of: Self.purpose + content, by: caller) else { return nil }
        return field("\(content).\(mac.hexadecimal)", seconds: Limits.sessionSecondsMax)
    }

    /// The header that takes it back.
    var cleared: String { field("", seconds: 0) }

    /// Whose session a request shows; nil for none, and for one that is over.
    func caller(of request: Request, _ tokens: AccessTokens, at now: Date = .now) -> String? {
        let pairs = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.map { $0.trimmingSpaces() }
        let shown = pairs.filter { $0.hasPrefix("\(name)=") }.prefix(Self.triedMax)
        return shown.lazy.compactMap { Self.caller(in: $0.dropFirst(name.count + 1), tokens, at: now) }.first
    }

    private func field(_ value: String, seconds: Int) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    /// Browsers send one, or two where something else on the host has set one of that name for a longer path.
    private static let triedMax = 4
    /// So that no signature of another kind is ever taken for one of these.
    private static let purpose = "attachprep session\0"

    private static func content(_ expiry: Int, _ caller: String) -> String { "\(expiry).\(caller)" }

    /// The caller that a cookie's value stands for; nil when it is not ours, is over, or its token is gone.
    static func caller(in value: Substring, _ tokens: AccessTokens, at now: Date) -> String? {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let expiry = Int(parts[0]), Double(expiry) > now.timeIntervalSince1970 else {
            return nil
        }
        // Bounded: texts.
        let isSigned = tokens.signed(purpose + content(expiry, parts[1]), with: parts[2], by: parts[1])
        return isSigned ? parts[1] : nil
    }
}
