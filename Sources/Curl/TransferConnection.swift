internal import CCurl

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// What a transfer's callbacks ask and decide about the connection it runs on.
///
/// libcurl before 8.0 sends the next request over a connection on which bytes are waiting, and takes them for the
/// answer to it: a server that says more than it was asked would answer requests that it never saw.
@safe final class TransferConnection {
    /// Borrowed: used only inside calls on the handle, which owns this object.
    private let raw: UnsafeMutableRawPointer
    private let isSecure: Bool
    let sockets: OpenSockets

    init(of raw: UnsafeMutableRawPointer, isSecure: Bool, sockets: OpenSockets) {
        unsafe self.raw = raw
        self.isSecure = isSecure
        self.sockets = sockets
    }

    /// Bytes of the body that have arrived, as they were sent.
    var bodyBytesSent: Int {
        var bytes: curl_off_t = 0
        let code = unsafe CCurl_easy_getinfo_offset(raw, CURLINFO_SIZE_DOWNLOAD_T, &bytes)
        return code == CURLE_OK ? Int(bytes) : 0
    }

    /// Whether a connection without TLS that was used before has bytes for us, or its end, although nothing was asked.
    func isSpoiled(localPort: Int32, remotePort: Int32) -> Bool {
        var opened = 0
        guard !isSecure, unsafe CCurl_easy_getinfo_long(raw, CURLINFO_NUM_CONNECTS, &opened) == CURLE_OK, opened == 0
        else { return false }
        guard let descriptor = sockets.find(localPort: localPort, remotePort: remotePort) else { return true }
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count >= 0
    }

    /// Keeps a connection with TLS for the next request only when it speaks HTTP/2.
    ///
    /// Its frames belong to requests by number. What is left of an HTTP/1 answer waits inside the TLS library, where
    /// nobody can look for it.
    func decideReuse() {
        var version = 0
        guard isSecure, unsafe CCurl_easy_getinfo_long(raw, CURLINFO_HTTP_VERSION, &version) == CURLE_OK,
            version != Int(CURL_HTTP_VERSION_2_0)
        else { return }
        // Looked at when the transfer is over; it cannot fail, being a switch.
        _ = unsafe CCurl_easy_setopt_long(raw, CURLOPT_FORBID_REUSE, 1)
    }
}
