internal import CCurl

/// How a transfer ended in libcurl's words; the names are those that the rooms above decide by.
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

    /// Also what an answer without a status line is called, since it would be HTTP/0.9.
    package static let unsupportedProtocol = CurlCode(CURLE_UNSUPPORTED_PROTOCOL)
    package static let couldNotResolveProxy = CurlCode(CURLE_COULDNT_RESOLVE_PROXY)
    package static let couldNotResolveHost = CurlCode(CURLE_COULDNT_RESOLVE_HOST)
    package static let couldNotConnect = CurlCode(CURLE_COULDNT_CONNECT)
    package static let weirdServerReply = CurlCode(CURLE_WEIRD_SERVER_REPLY)
    package static let http2 = CurlCode(CURLE_HTTP2)
    package static let partialFile = CurlCode(CURLE_PARTIAL_FILE)
    package static let writeError = CurlCode(CURLE_WRITE_ERROR)
    /// Also what libcurl up to 8.5 calls a header line of more than 100 KB; later ones say `tooLarge`.
    package static let outOfMemory = CurlCode(CURLE_OUT_OF_MEMORY)
    /// CURLE_TOO_LARGE, which 7.88's header does not have yet.
    package static let tooLarge = CurlCode(rawValue: 100)
    package static let timedOut = CurlCode(CURLE_OPERATION_TIMEDOUT)
    package static let abortedByCallback = CurlCode(CURLE_ABORTED_BY_CALLBACK)
    /// Also what 7.88 calls a folded line with a colon that comes before any header.
    package static let badFunctionArgument = CurlCode(CURLE_BAD_FUNCTION_ARGUMENT)
    /// What more than five transfer codings end with, before their header is shown.
    package static let badContentEncoding = CurlCode(CURLE_BAD_CONTENT_ENCODING)
    package static let gotNothing = CurlCode(CURLE_GOT_NOTHING)
    package static let sendError = CurlCode(CURLE_SEND_ERROR)
    package static let receiveError = CurlCode(CURLE_RECV_ERROR)
    package static let http2Stream = CurlCode(CURLE_HTTP2_STREAM)
    package static let proxyHandshake = CurlCode(CURLE_PROXY)

    /// Whether the handshake or the certificate was refused, by us or by the peer.
    package var isTLS: Bool { Self.tls.contains(self) }

    private static let tls: Set<CurlCode> = [
        CurlCode(CURLE_SSL_CONNECT_ERROR), CurlCode(CURLE_PEER_FAILED_VERIFICATION), CurlCode(CURLE_SSL_CERTPROBLEM),
        CurlCode(CURLE_SSL_CIPHER), CurlCode(CURLE_SSL_CACERT_BADFILE), CurlCode(CURLE_SSL_CLIENTCERT),
        CurlCode(CURLE_SSL_ENGINE_INITFAILED), CurlCode(CURLE_SSL_CRL_BADFILE), CurlCode(CURLE_SSL_ISSUER_ERROR),
        CurlCode(CURLE_SSL_PINNEDPUBKEYNOTMATCH), CurlCode(CURLE_SSL_INVALIDCERTSTATUS),
        CurlCode(CURLE_USE_SSL_FAILED),
    ]
}
