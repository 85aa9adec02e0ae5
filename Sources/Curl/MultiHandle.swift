internal import CCurl

/// The owner of one `CURLM`: many transfers and their connections on one thread.
///
/// Every call but `wakeUp` belongs to the loop's thread.
/// <https://curl.se/libcurl/c/libcurl-multi.html>
@safe final class MultiHandle: @unchecked Sendable {
    // Sendable because the thread takes it over whole, and curl_multi_wakeup is documented as safe from any thread.
    private let raw: UnsafeMutableRawPointer
    /// Outlives every connection: they are closed when this handle is.
    let watch: LoopWatch
    private var isClosed = false

    /// - Parameter idleConnectionsMax: connections kept open for the next transfer.
    /// - Throws: when libcurl does not start or memory runs out.
    init(idleConnectionsMax: Int) throws(CurlError) {
        try CurlLibrary.start()
        guard let raw = unsafe curl_multi_init() else { throw CurlError(CURLM_OUT_OF_MEMORY, "curl_multi_init") }
        unsafe self.raw = raw
        guard let watch = LoopWatch() else {
            _ = unsafe curl_multi_cleanup(raw)
            throw CurlError(
                interface: .multi, rawCode: 0, operation: "start the watch over downloads", text: "no thread left")
        }
        self.watch = watch
        try unsafe CCurl_multi_setopt_long(raw, CURLMOPT_MAXCONNECTS, idleConnectionsMax)
            .check("set CURLMOPT_MAXCONNECTS")
    }

    deinit { close() }

    /// Closes every connection; nothing else may be asked of it afterwards.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        // Only a handle still in use or a call from inside a callback could fail here: both are bugs of ours.
        let code = watch.inside { unsafe curl_multi_cleanup(raw) }
        precondition(code == CURLM_OK, "curl_multi_cleanup failed: a transfer outlived its loop")
        watch.stop()
    }

    func add(_ easy: EasyHandle) throws(CurlError) {
        try watch.inside { unsafe curl_multi_add_handle(raw, easy.raw) }.check("curl_multi_add_handle")
    }

    /// Stops a transfer where it is; does nothing to one that is over.
    func remove(_ easy: EasyHandle) throws(CurlError) {
        try watch.inside { unsafe curl_multi_remove_handle(raw, easy.raw) }.check("curl_multi_remove_handle")
    }

    /// Does what can be done without waiting.
    func perform() throws(CurlError) {
        var running: Int32 = 0
        let code = watch.inside { unsafe curl_multi_perform(raw, &running) }
        try code.check("curl_multi_perform")
    }

    /// Waits until a socket is ready, one of libcurl's timers is due, somebody calls `wakeUp`, or the time is up.
    func wait(atMost duration: Duration) throws(CurlError) {
        let milliseconds = Int32(clamping: duration.wholeMilliseconds)
        try unsafe curl_multi_poll(raw, nil, 0, milliseconds, nil).check("curl_multi_poll")
    }

    /// Ends a `wait` at once, or the next one.
    func wakeUp() throws(CurlError) {
        try unsafe curl_multi_wakeup(raw).check("curl_multi_wakeup")
    }

    /// The next transfer that has ended since the last question, with its code; nil when there is none.
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
