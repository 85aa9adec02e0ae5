internal import FoundationEssentials
internal import MediaTypes
internal import SafeArithmetic

/// The cookies that the redirects of one download set, for a server that checks them when the client comes back.
///
/// A cookie is sent only to the host that set it, whatever its `Domain` says, and ends with the download.
/// Source: RFC 6265, 5.2 to 5.4.
struct RedirectCookies: Sendable {
    private struct Cookie: Sendable {
        let name: ForeignText
        let value: ForeignText
        let host: String
        let path: ForeignText
        let isSecure: Bool

        var bytes: Int { name.utf8.count.adding(clamping: value.utf8.count).adding(clamping: path.utf8.count) }
    }

    private var cookies: [Cookie] = []

    /// Stores what the head of a redirect sets; cookies beyond `Limits.cookieBytesMax` are dropped.
    mutating func store(_ head: ResponseHead, from address: WebAddress, now: Date = .now) {
        for field in head.values("set-cookie") { store(field, from: address, now: now) }
    }

    private mutating func store(_ field: ForeignText, from address: WebAddress, now: Date) {
        let parts = field.split(at: UInt8(ascii: ";"))
        let pair = parts[0].split(at: UInt8(ascii: "="), maxSplits: 1).map(\.trimmed)
        guard pair.count == 2, !pair[0].isEmpty, Self.isSendable(pair[0]), Self.isSendable(pair[1]) else { return }
        var path = Self.directory(of: address.path)
        var (isSecure, expires, maxAge) = (false, Date?.none, ForeignText?.none)
        for part in parts.dropFirst() {
            let attribute = part.split(at: UInt8(ascii: "="), maxSplits: 1).map(\.trimmed)
            let value = attribute.count == 2 ? attribute[1] : ""
            switch attribute[0].lowercased {
            case "secure": isSecure = true
            case "path" where value.hasPrefix("/") && Self.isSendable(value): path = value
            case "domain" where !Self.domain(value, covers: address.host): return
            case "expires": expires = HTTPDate.date(value)
            case "max-age": maxAge = value
            default: break
            }
        }
        guard !isSecure || address.isSecure else { return }
        let new = Cookie(name: pair[0], value: pair[1], host: address.host, path: path, isSecure: isSecure)
        cookies.removeAll { $0.name == new.name && $0.path == new.path && $0.host == new.host }
        // `Max-Age` takes precedence; zero and negative numbers delete the cookie.
        let isDeleted = maxAge.map { $0.hasPrefix("-") || $0.number == 0 } ?? expires.map { $0 <= now } ?? false
        let bytes = cookies.reduce(new.bytes) { $0.adding(clamping: $1.bytes) }
        guard !isDeleted, cookies.count < Limits.cookiesMax, bytes <= Limits.cookieBytesMax else { return }
        cookies.append(new)
    }

    /// The value of the `Cookie` header for a request; nil when no cookie is for it.
    ///
    /// - Parameter callers: The caller's own value, which is sent as it is and comes first.
    func header(for address: WebAddress, callers: String?) -> String? {
        let own = callers.map(ForeignText.init) ?? ""
        let names = own.split(at: UInt8(ascii: ";")).map { $0.split(at: UInt8(ascii: "="), maxSplits: 1)[0].trimmed }
        let pairs = cookies.filter { cookie in
            cookie.host == address.host && (!cookie.isSecure || address.isSecure)
                && Self.path(cookie.path, covers: address.path) && !names.contains(cookie.name)
        }
        let parts = (callers.map { [$0] } ?? []) + pairs.map { "\($0.name.string)=\($0.value.string)" }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// Whether a `Domain` attribute names the host, or a domain that the host is in.
    private static func domain(_ domain: ForeignText, covers host: String) -> Bool {
        let name = (domain.hasPrefix(".") ? domain.dropFirst(1) : domain).lowercased
        let inDomain = Array(".\(name.string)".utf8)
        return name.isEmpty || name == ForeignText(host) || host.utf8.reversed().starts(with: inDomain.reversed())
    }

    private static func path(_ path: ForeignText, covers requested: ForeignText) -> Bool {
        guard requested.hasPrefix(path) else { return false }
        let next = requested.utf8.dropFirst(path.utf8.count).first
        return path.utf8.last == UInt8(ascii: "/") || next == nil || next == UInt8(ascii: "/")
    }

    /// The default path of a cookie (RFC 6265, 5.1.4): the path up to its last slash.
    private static func directory(of path: ForeignText) -> ForeignText {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.utf8.startIndex
        return end == path.utf8.startIndex ? "/" : ForeignText(Substring(path.utf8[..<end]))
    }

    /// Whether a text can be sent back unchanged: printable ASCII.
    private static func isSendable(_ text: ForeignText) -> Bool { text.utf8.allSatisfy { 0x20...0x7E ~= $0 } }
}

extension Limits {
    /// Bytes of all cookies of one download: servers send a few hundred.
    static let cookieBytesMax = 8_192
    /// Cookies of one download.
    static let cookiesMax = 20
}
