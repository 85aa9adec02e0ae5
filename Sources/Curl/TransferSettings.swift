/// What a request asks for.
package enum TransferMethod: String, Sendable, Hashable {
    case get = "GET"
    case post = "POST"
    case delete = "DELETE"
    case head = "HEAD"
    case put = "PUT"
}

/// What one transfer shall do: one request to one address, never a chain of them (redirects are the caller's).
package struct TransferSettings: Sendable {
    /// http or https, without user info.
    package var url: String
    package var method = TransferMethod.get
    /// Sent with its length by a POST, and by nothing else; a type of content is the headers' to name.
    package var body: [UInt8] = []
    /// What a PUT sends; nothing else does.
    package var upload: TransferUpload?
    /// Signs the request; it is then told in full by `headers`, all of which are signed.
    package var signature: TransferSignature?
    /// Lines of the form "Name: value"; the caller has checked that no value holds a line break.
    package var headers: [String]
    /// Pins a name to addresses that the caller has checked, in CURLOPT_RESOLVE's form: "host:port:address[,address]".
    package var pins: [String] = []
    /// The proxy's address; nil goes straight to the server, whatever the environment says.
    package var proxy: String?
    /// A PEM file to trust instead of the system's certificates.
    package var certificateAuthorityFile: String?
    /// Speaks HTTP/2 without TLS, and without asking whether the server does; for fuzz targets.
    package var assumesHTTP2 = false
    /// Takes no connection that was used before.
    package var opensConnection = false
    /// Keeps a TLS connection for the next request in HTTP/1 too: what the operator's own server leaves on it is no
    /// stranger's.
    package var trustsServer = false
    /// Named outside `headers`, so that it is not signed: whatever stands between may write its own.
    package var userAgent: String?
    package var limits: TransferLimits

    package init(url: String, headers: [String] = [], limits: TransferLimits) {
        self.url = url
        self.headers = headers
        self.limits = limits
    }
}

/// How long one transfer may take.
package struct TransferLimits: Sendable, Hashable {
    /// From the start until the request can be sent, TLS included.
    package var connect: Duration
    /// From the request to the end of the answer's head, informational answers before it included.
    package var firstByte: Duration
    /// The time in which `stallBytesMin` must come after that.
    package var stall: Duration
    /// Fewer bytes than that are silence; 1 counts every byte.
    package var stallBytesMin: Int
    /// When everything must have ended.
    package var deadline: ContinuousClock.Instant

    package init(
        connect: Duration, firstByte: Duration, stall: Duration, stallBytesMin: Int = 1,
        deadline: ContinuousClock.Instant
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.stall = stall
        self.stallBytesMin = stallBytesMin
        self.deadline = deadline
    }
}
