internal import CCurl
internal import SafeArithmetic

/// What a transfer's callbacks ask and decide about the connection it runs on.
///
/// libcurl before 8.0 sends the next request over a connection on which bytes are waiting, and takes them for the
/// answer to it: a server that says more than it was asked would answer requests that it never saw.
@safe final class TransferConnection {
    /// Borrowed: used only inside calls on the handle, which owns this object.
    private let raw: UnsafeMutableRawPointer
    private let isSecure: Bool
    private let isTrusted: Bool
    let watch: LoopWatch
    /// Known from the request on.
    private var descriptor: CInt?
    private var bodyBytesBrought = 0

    init(of raw: UnsafeMutableRawPointer, isSecure: Bool, isTrusted: Bool = false, watch: LoopWatch) {
        unsafe self.raw = raw
        self.isSecure = isSecure
        self.isTrusted = isTrusted
        self.watch = watch
    }

    /// Takes note of a header line.
    func bring(headerBytes: Int) {
        if let descriptor { watch.sockets.bring(headerBytes, over: descriptor) }
    }

    /// Takes note of what has arrived of the body.
    ///
    /// - Returns: its bytes so far, as they were sent.
    func bringBody() -> Int {
        var bytes: curl_off_t = 0
        let code = unsafe CCurl_easy_getinfo_offset(raw, CURLINFO_SIZE_DOWNLOAD_T, &bytes)
        guard code == CURLE_OK else { return bodyBytesBrought }
        let brought = Int(clamping: bytes)
        if let descriptor { watch.sockets.bring(brought.subtracting(clamping: bodyBytesBrought), over: descriptor) }
        bodyBytesBrought = brought
        return bodyBytesBrought
    }

    /// The request is about to leave.
    ///
    /// - Returns: whether a connection without TLS that was used before has bytes for us, or its end, although nothing
    ///   was asked.
    func begin(localPort: Int32, remotePort: Int32) -> Bool {
        descriptor = watch.sockets.find(localPort: localPort, remotePort: remotePort)
        var opened = 0
        guard !isSecure, unsafe CCurl_easy_getinfo_long(raw, CURLINFO_NUM_CONNECTS, &opened) == CURLE_OK, opened == 0
        else { return false }
        return descriptor.map { watch.sockets.hasInput($0) } ?? true
    }

    /// Reads no more of the transfer; false where that cannot be.
    ///
    /// The streams of an HTTP/2 connection are read together: libcurl would keep in memory what comes for one that is
    /// held, and has left such streams lying afterwards.
    func hold() -> Bool {
        var version = 0
        guard unsafe CCurl_easy_getinfo_long(raw, CURLINFO_HTTP_VERSION, &version) == CURLE_OK,
            version != Int(CURL_HTTP_VERSION_2_0)
        else { return false }
        return watch.inside { unsafe curl_easy_pause(raw, CURLPAUSE_RECV) } == CURLE_OK
    }

    /// Goes on with a transfer that was held: calls back at once with what libcurl has read already, and fails with
    /// whatever is wrong in that.
    ///
    /// libcurl: curl_easy_pause.
    func release() -> CURLcode {
        watch.inside { unsafe curl_easy_pause(raw, CURLPAUSE_RECV_CONT) }
    }

    /// Keeps a stranger's connection for the next request only when nothing can be left on it.
    ///
    /// HTTP/2's frames belong to requests by number. What is left of an HTTP/1 answer waits inside the TLS library,
    /// where nobody can look for it; without TLS it may still be under way when the next request goes out.
    /// - Parameter isClean: whether the answer ends where there is no doubt; see `AnswerFraming.allowsReuse`.
    func decideReuse(isClean: Bool) {
        var version = 0
        guard isSecure || !isClean, !isTrusted,
            unsafe CCurl_easy_getinfo_long(raw, CURLINFO_HTTP_VERSION, &version) == CURLE_OK,
            version != Int(CURL_HTTP_VERSION_2_0)
        else { return }
        // Looked at when the transfer is over; it cannot fail, being a switch.
        _ = unsafe CCurl_easy_setopt_long(raw, CURLOPT_FORBID_REUSE, 1)
    }
}
