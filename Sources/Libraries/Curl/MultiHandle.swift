internal import CCurl

/// Owns a `CURLM` handle: many transfers and their connections on one thread.
///
/// All methods except `wakeUp` must be called on the loop thread.
/// <https://curl.se/libcurl/c/libcurl-multi.html>
// Sendable because libcurl allows `curl_multi_wakeup` on any thread, and only the loop thread calls the others.
@safe final class MultiHandle: @unchecked Sendable {
    // Sendable because only the loop thread uses it, and curl_multi_wakeup is documented as safe from any thread.
    private let raw: UnsafeMutableRawPointer
    /// The watchdog, which lives until the connections are closed with this handle.
    let watch: LoopWatchdog
    private var isClosed = false

    /// - Parameter idleConnectionsMax: The most idle connections that are kept for reuse.
    /// - Throws: When libcurl does not start or memory runs out.
    init(idleConnectionsMax: Int) throws(CurlError) {
        try CurlLibrary.start()
        guard let raw = unsafe curl_multi_init() else { throw CurlError(CURLM_OUT_OF_MEMORY, "curl_multi_init") }
        unsafe self.raw = raw
        guard let watch = LoopWatchdog() else {
            _ = unsafe curl_multi_cleanup(raw)
            throw CurlError(
                interface: .multi, rawCode: 0, operation: "start the download watchdog",
                text: "the system cannot create a thread")
        }
        self.watch = watch
        try unsafe CCurl_multi_setopt_long(raw, CURLMOPT_MAXCONNECTS, idleConnectionsMax)
            .check("set CURLMOPT_MAXCONNECTS")
    }

    deinit { close() }

    /// Closes all connections; the handle must not be used afterwards.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        // This fails only if the handle is still in use or during a callback, which are programming errors.
        let code = watch.insideLibcurl { unsafe curl_multi_cleanup(raw) }
        precondition(code == CURLM_OK, "curl_multi_cleanup failed: a transfer outlived its loop")
        watch.stop()
    }

    func add(_ easy: EasyHandle) throws(CurlError) {
        try watch.insideLibcurl { unsafe curl_multi_add_handle(raw, easy.raw) }.check("curl_multi_add_handle")
    }

    /// Aborts a transfer; no effect on one that has ended.
    func remove(_ easy: EasyHandle) throws(CurlError) {
        try watch.insideLibcurl { unsafe curl_multi_remove_handle(raw, easy.raw) }.check("curl_multi_remove_handle")
    }

    /// Makes progress on all transfers without waiting.
    func perform() throws(CurlError) {
        var running: Int32 = 0
        let code = watch.insideLibcurl { unsafe curl_multi_perform(raw, &running) }
        try code.check("curl_multi_perform")
    }

    /// Waits until a socket is ready, a timer of libcurl is due, `wakeUp` is called, or `duration` has passed.
    func wait(atMost duration: Duration) throws(CurlError) {
        let milliseconds = Int32(clamping: duration.wholeMilliseconds)
        try unsafe curl_multi_poll(raw, nil, 0, milliseconds, nil).check("curl_multi_poll")
    }

    /// Ends the current `wait` at once, or else the next one.
    func wakeUp() throws(CurlError) {
        try unsafe curl_multi_wakeup(raw).check("curl_multi_wakeup")
    }

    /// The next finished transfer and its code; nil when there is none. Each is returned once.
    func nextFinished() -> (raw: UnsafeMutableRawPointer, code: CURLcode)? {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(raw, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle else {
                continue
            }
            return unsafe (easy, message.pointee.data.result)
        }
        return nil
    }
}

/// The global state of libcurl.
package enum CurlLibrary {
    /// The version at run time, such as "libcurl/7.88.1 OpenSSL/3.0.22 …".
    package static var version: String { unsafe String(cString: curl_version()) }

    /// Initializes libcurl once per process, before the first handle.
    ///
    /// - Throws: When libcurl or its TLS library does not start.
    static func start() throws(CurlError) {
        try started.check("curl_global_init")
    }

    /// Initialized once, on any thread; never cleaned up, since it is used until the process ends.
    private static let started: CURLcode = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
}
