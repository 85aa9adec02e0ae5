internal import CCurl
internal import Glibc
internal import SafeArithmetic
internal import Synchronization

/// Decides for the callbacks of one transfer whether its connection may be used, paused and reused.
///
/// libcurl before 8.0 sends the next request over a connection with unread bytes and takes them for its response. A
/// server could so respond to requests that it has not received.
@safe final class TransferConnection {
    /// Borrowed from the handle that owns this object; used only during calls on it.
    private let raw: UnsafeMutableRawPointer
    private let isSecure: Bool
    private let isTrusted: Bool
    let watch: LoopWatchdog
    /// The socket; known once the request is about to be sent.
    private var descriptor: CInt?
    private var bodyBytesReceived = 0

    init(of raw: UnsafeMutableRawPointer, isSecure: Bool, isTrusted: Bool = false, watch: LoopWatchdog) {
        unsafe self.raw = raw
        self.isSecure = isSecure
        self.isTrusted = isTrusted
        self.watch = watch
    }

    /// Counts the bytes of a header line.
    func recordReceived(headerBytes: Int) {
        if let descriptor { watch.sockets.recordReceived(headerBytes, over: descriptor) }
    }

    /// Counts the body bytes received so far.
    ///
    /// - Returns: The body bytes so far, as sent.
    func recordReceivedBody() -> Int {
        var bytes: curl_off_t = 0
        let code = unsafe CCurl_easy_getinfo_offset(raw, CURLINFO_SIZE_DOWNLOAD_T, &bytes)
        guard code == CURLE_OK else { return bodyBytesReceived }
        let received = Int(clamping: bytes)
        if let descriptor {
            watch.sockets.recordReceived(received.subtracting(clamping: bodyBytesReceived), over: descriptor)
        }
        bodyBytesReceived = received
        return bodyBytesReceived
    }

    /// Called before the request is sent.
    ///
    /// - Returns: Whether the connection is unusable: reused, without TLS, and with unread bytes or closed.
    func begin(localPort: Int32, remotePort: Int32) -> Bool {
        descriptor = watch.sockets.find(localPort: localPort, remotePort: remotePort)
        var opened = 0
        guard !isSecure, unsafe CCurl_easy_getinfo_long(raw, CURLINFO_NUM_CONNECTS, &opened) == CURLE_OK, opened == 0
        else { return false }
        return descriptor.map { watch.sockets.hasInput($0) } ?? true
    }

    /// Pauses reading; false when that is not possible.
    ///
    /// HTTP/2 streams are not paused: they are read together, so libcurl would buffer the data of a paused stream in
    /// memory, and such streams have hung afterwards.
    func pause() -> Bool {
        var version = 0
        guard unsafe CCurl_easy_getinfo_long(raw, CURLINFO_HTTP_VERSION, &version) == CURLE_OK,
            version != Int(CURL_HTTP_VERSION_2_0)
        else { return false }
        return watch.insideLibcurl { unsafe curl_easy_pause(raw, CURLPAUSE_RECV) } == CURLE_OK
    }

    /// Resumes reading with `curl_easy_pause`. The callbacks for data that libcurl has already read run during the
    /// call.
    func unpause() -> CURLcode {
        watch.insideLibcurl { unsafe curl_easy_pause(raw, CURLPAUSE_RECV_CONT) }
    }

    /// Forbids reuse of a connection on which bytes may remain, unless the server is trusted.
    ///
    /// HTTP/2 frames are assigned to requests by stream number. With HTTP/1, remaining bytes are buffered in the TLS
    /// library, where they cannot be detected; without TLS they may arrive after the next request is sent.
    /// - Parameter isClean: Whether the end of the response is unambiguous; see `ResponseFraming.allowsReuse`.
    func decideReuse(isClean: Bool) {
        var version = 0
        guard isSecure || !isClean, !isTrusted,
            unsafe CCurl_easy_getinfo_long(raw, CURLINFO_HTTP_VERSION, &version) == CURLE_OK,
            version != Int(CURL_HTTP_VERSION_2_0)
        else { return }
        // libcurl reads this option at the end of the transfer. Setting a Boolean option cannot fail.
        _ = unsafe CCurl_easy_setopt_long(raw, CURLOPT_FORBID_REUSE, 1)
    }
}

/// The open sockets of libcurl.
final class OpenSockets: Sendable {
    /// Open descriptors and the bytes that transfers received over each.
    ///
    /// Sockets are opened and closed under the lock, so that a descriptor is not used after it was reassigned.
    private let descriptors = Mutex<[CInt: Int]>([:])

    func open(_ family: Int32, kind: Int32, transport: Int32) -> CInt {
        descriptors.withLock { descriptors in
            let descriptor = socket(family, kind, transport)
            if descriptor >= 0 { descriptors[descriptor] = 0 }
            return descriptor
        }
    }

    func close(_ descriptor: CInt) -> CInt {
        descriptors.withLock { descriptors in
            descriptors[descriptor] = nil
            return systemClose(descriptor)
        }
    }

    /// The socket of a connection between two ports; nil if there is none.
    ///
    /// In CURLOPT_PREREQFUNCTION libcurl identifies the connection only by addresses and ports.
    func find(localPort: Int32, remotePort: Int32) -> CInt? {
        descriptors.withLock { descriptors in
            descriptors.keys.first { descriptor in
                unsafe Self.port { unsafe getsockname(descriptor, $0, $1) } == localPort
                    && Self.port { unsafe getpeername(descriptor, $0, $1) } == remotePort
            }
        }
    }

    /// Whether a connection has unread bytes or was closed.
    func hasInput(_ descriptor: CInt) -> Bool {
        descriptors.withLock { descriptors in
            var byte: UInt8 = 0
            guard descriptors[descriptor] != nil else { return true }
            return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) >= 0
        }
    }

    /// Counts bytes that a transfer received.
    func recordReceived(_ bytes: Int, over descriptor: CInt) {
        descriptors.withLock { $0[descriptor] = $0[descriptor]?.adding(clamping: bytes) }
    }

    /// Connections of which libcurl has read more than `share` times the bytes received by transfers plus `bytesFree`.
    func wasteful(share: Int, bytesFree: Int) -> [CInt] {
        descriptors.withLock { descriptors in
            descriptors.filter {
                Int(clamping: CCurl_socket_bytes_read($0))
                    > $1.multiplied(clamping: share).adding(clamping: bytesFree)
            }.map(\.key)
        }
    }

    /// The bytes that libcurl has read from each connection so far.
    var bytesRead: [CInt: Int] {
        descriptors.withLock { descriptors in
            descriptors.keys.reduce(into: [:]) { $0[$1] = Int(clamping: CCurl_socket_bytes_read($1)) }
        }
    }

    /// Shuts connections down, so that libcurl reads their end; closed ones are ignored.
    func end(_ ended: some Sequence<CInt>) {
        descriptors.withLock { descriptors in
            // shutdown(2) fails for a connection that the peer has reset, which has ended as well.
            for descriptor in ended where descriptors[descriptor] != nil {
                _ = shutdown(descriptor, Int32(SHUT_RDWR))
            }
        }
    }

    /// Shuts all connections down.
    func endAll() {
        end(descriptors.withLock { Array($0.keys) })
    }

    private static func port(
        _ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
    ) -> Int32? {
        var name = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = unsafe withUnsafeMutablePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe ask($0, &length) }
        }
        // sockaddr_in and sockaddr_in6 have the port at the same offset.
        return status == 0 ? Int32(UInt16(bigEndian: name.sin6_port)) : nil
    }
}

/// close(2), which the method `OpenSockets.close` shadows.
private func systemClose(_ descriptor: CInt) -> CInt { close(descriptor) }
