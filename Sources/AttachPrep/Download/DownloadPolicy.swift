/// Where downloads may go: the operator's choice, the same for every request of one downloader.
public struct DownloadPolicy: Sendable, Hashable {
    /// Refuses http, on redirects too.
    public var httpsOnly: Bool
    /// Opens the whole table of refused addresses: loopback, private and link-local networks and all the rest.
    public var allowsPrivateNetwork: Bool
    /// A PEM file to trust instead of the system's certificates.
    public var certificateAuthorityFile: String?
    /// The address of a proxy, such as "http://proxy.example:3128".
    ///
    /// The proxy then resolves the names, so the address checks are handed to it: point it at a filtering one.
    /// Proxy variables of the environment are always ignored.
    public var proxy: String?
    /// Answers given by hand, in curl's form "host:port:address[,address]".
    ///
    /// The address table checks them like any other.
    public var resolveOverrides: [String]
    /// Speaks HTTP/2 from the first byte of every connection without TLS (RFC 9113, 3.3); for fuzz targets, whose
    /// servers have no certificates.
    package var assumesHTTP2 = false

    public init(
        httpsOnly: Bool = false, allowsPrivateNetwork: Bool = false, certificateAuthorityFile: String? = nil,
        proxy: String? = nil, resolveOverrides: [String] = []
    ) {
        self.httpsOnly = httpsOnly
        self.allowsPrivateNetwork = allowsPrivateNetwork
        self.certificateAuthorityFile = certificateAuthorityFile
        self.proxy = proxy
        self.resolveOverrides = resolveOverrides
    }
}
