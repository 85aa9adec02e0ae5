internal import Curl
internal import RichPush

/// The proxy that all requests go through, when there is one.
struct ProxyServer: Sendable, Hashable {
    /// As curl takes it, with its user info.
    let text: String
    let host: String
    /// The port written; without one curl takes 1080, or 443 for an https proxy, whatever the scheme's own port is.
    let ports: [Int]

    /// - Throws: `request.invalid` for an address that cannot be read.
    init(_ text: String) throws(AttachPrepError) {
        self.text = text
        do {
            let url = try CurlURL(parsing: text.contains("://") ? text : "http://\(text)")
            host = url.host
            ports = [url.port, 1080].filter { $0 > 0 }
        } catch {
            throw AttachPrepError(
                .requestInvalid, "The proxy's address cannot be read; correct --proxy.", detail: error.description)
        }
    }
}
