/// The HTTP method of a request.
package enum TransferMethod: String, Sendable, Hashable {
    case get = "GET"
    case post = "POST"
    case delete = "DELETE"
    case head = "HEAD"
    case put = "PUT"
}

/// The settings of one transfer: a single request to one URL. Redirects are not followed.
package struct TransferSettings: Sendable {
    /// An http or https URL without user info.
    package var url: String
    package var method = TransferMethod.get
    /// The body of a POST, ignored for other methods; set its `Content-Type` in `headers`.
    package var body: [UInt8] = []
    /// The body of a PUT; ignored for other methods.
    package var upload: TransferUpload?
    /// Signs the request with all lines of `headers`.
    package var signature: TransferSignature?
    /// Lines of the form "Name: value"; the caller has checked that they contain no line break.
    package var headers: [String]
    /// Addresses for host names in CURLOPT_RESOLVE's form, "host:port:address[,address]", checked by the caller.
    package var pins: [String] = []
    /// The URL of the proxy; nil uses none, regardless of the environment.
    package var proxy: String?
    /// The path of a PEM file with the certificate authorities to trust instead of the system's.
    package var certificateAuthorityFile: String?
    /// Uses HTTP/2 with prior knowledge on connections without TLS; for fuzz targets.
    package var assumesHTTP2 = false
    /// Opens a new connection instead of reusing one.
    package var opensConnection = false
    /// Whether a TLS connection with HTTP/1 is kept for reuse; only safe for the operator's own server, which leaves no
    /// stray bytes on it.
    package var trustsServer = false
    /// Set apart from `headers` so that it is not signed: proxies may change it.
    package var userAgent: String?
    package var limits: TransferLimits

    package init(url: String, headers: [String] = [], limits: TransferLimits) {
        self.url = url
        self.headers = headers
        self.limits = limits
    }
}

/// The time limits of one transfer.
package struct TransferLimits: Sendable, Hashable {
    /// From the start until the request can be sent, including TLS.
    package var connect: Duration
    /// From the request to the end of the response head, including informational responses.
    package var firstByte: Duration
    /// The time within which `stallBytesMin` more body bytes must be received.
    package var stall: Duration
    /// Fewer bytes than this within `stall` count as a stalled transfer; 1 counts every byte as progress.
    package var stallBytesMin: Int
    /// When the transfer must have ended.
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

/// A part of a file as the body of a request, read in pieces as it is sent.
package struct TransferUpload: Sendable, Hashable {
    /// Open for reading until the transfer has ended; its file offset is neither used nor changed.
    package var descriptor: CInt
    /// The offset of the part in the file, in bytes.
    package var offset: Int
    package var bytes: Int

    package init(descriptor: CInt, offset: Int = 0, bytes: Int) {
        self.descriptor = descriptor
        self.offset = offset
        self.bytes = bytes
    }
}

/// The parameters of an AWS Signature Version 4 made by libcurl.
///
/// Requirements of libcurl 7.88, verified against an endpoint that checks signatures:
/// - The body digest is signed only if `x-amz-content-sha256` is among the headers.
/// - Path and query are signed as written in the URL: they must be percent-encoded, with sorted keys, and `key=` for a
///   key without a value.
/// - Every header line is signed, even one that only removes a header ("Expect:") and is never sent.
/// - Key and secret are set as separate options, because a key may contain a colon.
///
/// <https://curl.se/libcurl/c/CURLOPT_AWS_SIGV4.html>
package struct TransferSignature: Sendable, Hashable {
    package var accessKeyID: String
    package var secretAccessKey: String
    /// Letters, digits and hyphens; the caller has checked it.
    package var region: String
    package var service: String

    package init(accessKeyID: String, secretAccessKey: String, region: String, service: String) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.region = region
        self.service = service
    }

    /// The value of CURLOPT_AWS_SIGV4.
    var provider: String { "aws:amz:\(region):\(service)" }
}

/// Keeps the secret out of descriptions and dumps.
extension TransferSignature: CustomStringConvertible, CustomReflectable {
    package var description: String { "\(accessKeyID) \(region) \(service)" }
    package var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID, "region": region]) }
}

/// Receives the events of one transfer on the loop thread. It must not block for long or call libcurl.
package protocol TransferObserver: AnyObject, Sendable {
    /// Whether a connection to an address (numeric, without brackets) may be opened.
    ///
    /// Called before the first packet of each new connection.
    func mayConnect(to address: String) -> Bool

    /// Whether the request may be sent over a connection to an address; called for reused connections too.
    func maySendRequest(to address: String) -> Bool

    /// Receives one raw header line, including status lines and the empty last line; false aborts the transfer.
    func received(headerLine: UnsafeRawBufferPointer) -> Bool

    /// Whether the head of the final response is complete; only body and trailers follow.
    var hasHead: Bool { get }

    /// Receives a piece of the body without chunked framing; false aborts the transfer.
    ///
    /// - Parameter bytesSent: Body bytes that the server has sent so far, including this piece.
    func received(body: UnsafeRawBufferPointer, bytesSent: Int) -> Bool

    /// Whether reading should pause. Call `TransferLoop.wakeUp` when it has become false.
    var isPaused: Bool { get }
}

extension TransferObserver {
    package var isPaused: Bool { false }
}

/// How one transfer ended, with its timings.
package struct TransferReport: Sendable, Hashable {
    package var ending: TransferEnding
    /// "1.0", "1.1" or "2"; nil without a response.
    package var httpVersion: String?
    /// The number of connections opened; 0 when one was reused.
    package var connectionsOpened = 0
    package var timings = TransferTimings()
    /// The `Retry-After` of the response; nil without one.
    package var retryAfter: Duration?

    /// The status of a proxy's response to CONNECT; nil without one.
    package var proxyStatus: Int?

    package init(_ ending: TransferEnding) {
        self.ending = ending
    }
}

/// How a transfer ended.
package enum TransferEnding: Sendable, Hashable {
    /// The whole response was received, of any status.
    case completed
    /// libcurl failed, or the observer aborted the transfer.
    case failed(CurlError)
    case connectTimedOut
    case firstByteTimedOut
    case stalled
    case deadlineReached
    /// The response has a transfer coding other than `chunked`; its body was not read.
    case transferCodingRefused
    /// The loop was abandoned with all its transfers because a libcurl call did not return; a retry may succeed.
    case abandoned
    /// The waiting task was cancelled, or the loop was shut down.
    case cancelled
}

/// Milliseconds per stage of one transfer; 0 for a stage that a reused connection skips.
package struct TransferTimings: Sendable, Hashable {
    package var connect = 0.0
    package var tls = 0.0
    package var firstByte = 0.0
    package var transfer = 0.0

    package init() {}
}
