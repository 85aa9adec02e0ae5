import AttachPrep

/// Scheme, host and port: what browsers keep apart.
struct WebOrigin: Hashable {
    private let scheme: String
    /// An IPv6 address stands in brackets.
    private let host: String
    private let port: Int

    /// The origin of an http or https address; nil for anything else.
    init?(_ url: String) {
        guard url.contains("://"), let address = try? WebAddress(url) else { return nil }
        scheme = String(address.origin.prefix { $0 != ":" })
        host = address.host.contains(":") ? "[\(address.host)]" : address.host
        port = address.port
    }

    var isSecure: Bool { scheme == "https" }

    /// As an `Origin` header and a content security policy write it: the usual port is left out.
    var text: String { isUsual ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)" }

    /// Whether a `Host` header means this one; which scheme it was asked by, that header does not say.
    func isAsked(by authority: String) -> Bool {
        let asked = authority.lowercased()
        return asked == "\(host):\(port)" || (isUsual && asked == host)
    }

    private var isUsual: Bool { port == (isSecure ? 443 : 80) }
}
