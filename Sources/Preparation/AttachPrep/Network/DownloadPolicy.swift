import AttachPrepModel
internal import Curl
import MediaTypes
internal import SafeArithmetic
internal import Synchronization

/// Network policy of a downloader, set by the operator for all its requests.
public struct DownloadPolicy: Sendable, Hashable {
    /// Rejects http, also in redirects.
    public var httpsOnly: Bool
    /// Allows all addresses that are blocked by default: loopback, private, link-local and the other reserved ranges.
    public var allowsPrivateNetwork: Bool
    /// The path of a PEM file with the certificate authorities to trust instead of the system's.
    public var certificateAuthorityFile: String?
    /// The URL of a proxy, such as "http://proxy.example:3128".
    ///
    /// The proxy resolves the names, so addresses are not checked here: use a proxy that filters them.
    /// Proxy variables of the environment are always ignored.
    public var proxy: String?
    /// Fixed addresses for host names, in curl's form "host:port:address[,address]".
    ///
    /// They are checked like any other address.
    public var resolveOverrides: [String]
    /// Uses HTTP/2 with prior knowledge on connections without TLS (RFC 9113, 3.3); for fuzz targets, whose servers
    /// have no certificates.
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

/// Time limits for the stages of one attempt; the defaults are the product's limits, tests shorten them.
package struct DownloadTimeouts: Sendable, Hashable {
    package var resolve: Duration = .seconds(Limits.resolveSecondsMax)
    package var connect: Duration = .seconds(Limits.connectSecondsMax)
    package var firstByte: Duration = .seconds(Limits.firstByteSecondsMax)
    package var stall: Duration = .seconds(Limits.stallSecondsMax)
    /// Fewer bytes than this within `stall` count as a stalled transfer.
    package var stallBytesMin = Limits.stallBytesMin
    /// The longest wait before the second attempt; doubled for each further one.
    package var backOff: Duration = .seconds(Limits.retryBackOffSeconds)

    package init() {}
}
