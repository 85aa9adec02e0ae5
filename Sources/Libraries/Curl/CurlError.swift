internal import CCurl

/// An error of libcurl: its code, and the operation that failed.
///
/// The text comes from libcurl and may contain URLs and paths: show it only in logs, never to clients.
package struct CurlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// libcurl numbers the codes of its three interfaces separately.
    package enum Interface: String, Hashable, Sendable {
        case easy, multi, url
    }

    package let interface: Interface
    /// The libcurl code: a `CURLcode`, `CURLMcode` or `CURLUcode`.
    package let rawCode: UInt32
    /// The operation that failed, such as "set CURLOPT_URL".
    package let operation: String
    /// libcurl's message.
    package let text: String

    package init(interface: Interface, rawCode: UInt32, operation: String, text: String) {
        self.interface = interface
        self.rawCode = rawCode
        self.operation = operation
        self.text = text
    }

    /// The code of a transfer; nil for an error of another interface.
    package var code: CurlCode? { interface == .easy ? CurlCode(rawValue: rawCode) : nil }

    /// Whether a TLS alert of the server ended the transfer after the handshake.
    ///
    /// In TLS 1.3 a client completes its handshake before the server has verified it. The alert for a missing client
    /// certificate then arrives while the response is read, and libcurl has no code for that. Its message contains
    /// OpenSSL's error: "error:", the number 0A of the TLS library and the reason in hexadecimal, which for an alert is
    /// 1,000 more than the alert's number (`SSL_AD_REASON_OFFSET`). Other reasons are broken connections.
    package var isTLSAlert: Bool {
        guard let library = text.firstRange(of: "error:0A") else { return false }
        let reason = UInt32(text[library.upperBound...].prefix(6), radix: 16)
        return reason.map { (1_000...1_255).contains($0) } ?? false
    }

    /// Whether the response had a header line without a colon, which libcurl rejects: a proxy may read it in another
    /// way. libcurl has no code for it, and 7.88 does not pass on the line.
    package var isHeaderWithoutColon: Bool { text.contains("without colon") }

    package var description: String { "curl \(interface.rawValue) \(rawCode): \(operation): \(text)" }
}

extension CurlError {
    init(_ code: CURLcode, _ operation: String, text: String = "") {
        let general = unsafe String(cString: curl_easy_strerror(code))
        self.init(
            interface: .easy, rawCode: code.rawValue, operation: operation, text: text.isEmpty ? general : text)
    }

    init(_ code: CURLMcode, _ operation: String) {
        let text = unsafe String(cString: curl_multi_strerror(code))
        self.init(interface: .multi, rawCode: UInt32(bitPattern: code.rawValue), operation: operation, text: text)
    }

    init(_ code: CURLUcode, _ operation: String) {
        let text = unsafe String(cString: curl_url_strerror(code))
        self.init(interface: .url, rawCode: code.rawValue, operation: operation, text: text)
    }
}

extension CURLcode {
    /// Throws unless the call succeeded.
    func check(_ operation: String) throws(CurlError) {
        guard self == CURLE_OK else { throw CurlError(self, operation) }
    }
}

extension CURLMcode {
    /// Throws unless the call succeeded.
    func check(_ operation: String) throws(CurlError) {
        guard self == CURLM_OK else { throw CurlError(self, operation) }
    }
}

extension CURLUcode {
    /// Throws unless the call succeeded.
    func check(_ operation: String) throws(CurlError) {
        guard self == CURLUE_OK else { throw CurlError(self, operation) }
    }
}

/// A `CURLcode`; the named values are those that callers handle.
///
/// <https://curl.se/libcurl/c/libcurl-errors.html>
package struct CurlCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    private init(_ code: CURLcode) {
        rawValue = code.rawValue
    }

    /// Also reported for a response without a status line, since it would be HTTP/0.9.
    package static let unsupportedProtocol = CurlCode(CURLE_UNSUPPORTED_PROTOCOL)
    package static let couldNotResolveProxy = CurlCode(CURLE_COULDNT_RESOLVE_PROXY)
    package static let couldNotResolveHost = CurlCode(CURLE_COULDNT_RESOLVE_HOST)
    package static let couldNotConnect = CurlCode(CURLE_COULDNT_CONNECT)
    package static let weirdServerReply = CurlCode(CURLE_WEIRD_SERVER_REPLY)
    package static let http2 = CurlCode(CURLE_HTTP2)
    package static let partialFile = CurlCode(CURLE_PARTIAL_FILE)
    package static let writeError = CurlCode(CURLE_WRITE_ERROR)
    /// libcurl up to 8.5 also reports this for a header line above 100 KB; later versions report `tooLarge`.
    package static let outOfMemory = CurlCode(CURLE_OUT_OF_MEMORY)
    /// CURLE_TOO_LARGE, which the header of libcurl 7.88 does not declare.
    package static let tooLarge = CurlCode(rawValue: 100)
    package static let timedOut = CurlCode(CURLE_OPERATION_TIMEDOUT)
    package static let abortedByCallback = CurlCode(CURLE_ABORTED_BY_CALLBACK)
    /// libcurl 7.88 also reports this for a folded line with a colon before the first header.
    package static let badFunctionArgument = CurlCode(CURLE_BAD_FUNCTION_ARGUMENT)
    /// Reported for more than five transfer codings, before the header callback.
    package static let badContentEncoding = CurlCode(CURLE_BAD_CONTENT_ENCODING)
    package static let gotNothing = CurlCode(CURLE_GOT_NOTHING)
    package static let sendError = CurlCode(CURLE_SEND_ERROR)
    package static let receiveError = CurlCode(CURLE_RECV_ERROR)
    package static let http2Stream = CurlCode(CURLE_HTTP2_STREAM)
    package static let proxyHandshake = CurlCode(CURLE_PROXY)

    /// Whether the TLS handshake or a certificate was rejected by either side.
    package var isTLS: Bool { Self.tls.contains(self) }

    private static let tls: Set<CurlCode> = [
        CurlCode(CURLE_SSL_CONNECT_ERROR), CurlCode(CURLE_PEER_FAILED_VERIFICATION), CurlCode(CURLE_SSL_CERTPROBLEM),
        CurlCode(CURLE_SSL_CIPHER), CurlCode(CURLE_SSL_CACERT_BADFILE), CurlCode(CURLE_SSL_CLIENTCERT),
        CurlCode(CURLE_SSL_ENGINE_INITFAILED), CurlCode(CURLE_SSL_CRL_BADFILE), CurlCode(CURLE_SSL_ISSUER_ERROR),
        CurlCode(CURLE_SSL_PINNEDPUBKEYNOTMATCH), CurlCode(CURLE_SSL_INVALIDCERTSTATUS),
        CurlCode(CURLE_USE_SSL_FAILED),
    ]
}
