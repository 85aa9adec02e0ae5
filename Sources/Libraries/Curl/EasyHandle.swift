internal import CCurl
internal import SafeArithmetic

/// Owns a `CURL` handle: one transfer, created and released on the loop thread.
///
/// <https://curl.se/libcurl/c/libcurl-easy.html>
@safe final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    /// The context of the callbacks; libcurl holds an unretained pointer to it.
    let events: TransferEvents
    private let headers: CurlList
    private let pins: CurlList
    private let errorText: UnsafeMutableBufferPointer<CChar>

    /// - Throws: When libcurl rejects an option or memory runs out.
    init(
        _ settings: TransferSettings, observer: any TransferObserver, watch: LoopWatchdog
    ) throws(CurlError) {
        guard let raw = unsafe curl_easy_init() else { throw CurlError(CURLE_FAILED_INIT, "curl_easy_init") }
        unsafe self.raw = raw
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0)
        events = unsafe TransferEvents(
            observer: observer, clock: TransferClock(settings.limits),
            connection: TransferConnection(
                of: raw, isSecure: settings.url.hasPrefix("https:"), isTrusted: settings.trustsServer, watch: watch),
            method: settings.method, upload: settings.upload)
        do {
            headers = try CurlList(settings.headers + Self.suppressedHeaders(settings))
            pins = try CurlList(settings.pins)
        } catch {
            unsafe curl_easy_cleanup(raw)
            unsafe errorText.deallocate()
            throw error
        }
        try prepare(settings)
        try install()
    }

    deinit {
        unsafe curl_easy_cleanup(raw)
        unsafe errorText.deallocate()
    }

    private func prepare(_ settings: TransferSettings) throws(CurlError) {
        try set(CURLOPT_URL, to: settings.url)
        try set(CURLOPT_PROTOCOLS_STR, to: "http,https")
        try set(CURLOPT_FOLLOWLOCATION, to: 0)
        try set(CURLOPT_NOSIGNAL, to: 1)
        let version = settings.assumesHTTP2 ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE : CURL_HTTP_VERSION_2TLS
        try set(CURLOPT_HTTP_VERSION, to: Int(version))
        // Over TLS the handshake shows whether a connection can be multiplexed. Without TLS only a response does, and
        // one that does not arrive would delay all other requests to the server.
        try set(CURLOPT_PIPEWAIT, to: settings.url.hasPrefix("https:") ? 1 : 0)
        // The system's default may permit older versions.
        try set(CURLOPT_SSLVERSION, to: Int(CURL_SSLVERSION_TLSv1_2))
        // Bytes without a status line come from a server of another protocol.
        try set(CURLOPT_HTTP09_ALLOWED, to: 0)
        try set(CURLOPT_FRESH_CONNECT, to: settings.opensConnection ? 1 : 0)
        try set(CURLOPT_BUFFERSIZE, to: Self.bufferBytes)
        try set(CURLOPT_CONNECTTIMEOUT_MS, to: settings.limits.connect.wholeMilliseconds)
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
        // An empty string also disables the proxy variables of the environment.
        try set(CURLOPT_PROXY, to: settings.proxy ?? "")
        try set(CURLOPT_NOPROXY, to: "")
        // libcurl decodes up to five content codings at once without checking time or size, so its decoding is off and
        // CURLOPT_ACCEPT_ENCODING is not set. `ResponseFraming` rejects transfer codings.
        try set(CURLOPT_HTTP_CONTENT_DECODING, to: 0)
        if let file = settings.certificateAuthorityFile {
            try set(CURLOPT_CAINFO, to: file)
            try set(CURLOPT_PROXY_CAINFO, to: file)
        }
        if let userAgent = settings.userAgent { try set(CURLOPT_USERAGENT, to: userAgent) }
        if let signature = settings.signature { try prepare(signature) }
        try prepare(settings.method, body: settings.body, upload: settings.upload)
        try set(CURLOPT_HTTPHEADER, to: headers)
        try set(CURLOPT_RESOLVE, to: pins)
    }

    private func prepare(_ signature: TransferSignature) throws(CurlError) {
        try set(CURLOPT_AWS_SIGV4, to: signature.provider)
        try set(CURLOPT_USERNAME, to: signature.accessKeyID)
        try set(CURLOPT_PASSWORD, to: signature.secretAccessKey)
    }

    private func prepare(_ method: TransferMethod, body: [UInt8], upload: TransferUpload?) throws(CurlError) {
        switch method {
        case .get: return
        case .delete: try set(CURLOPT_CUSTOMREQUEST, to: method.rawValue)
        case .head: try set(CURLOPT_NOBODY, to: 1)
        case .put:
            try set(CURLOPT_UPLOAD, to: 1)
            try set(CURLOPT_UPLOAD_BUFFERSIZE, to: Self.uploadBufferBytes)
            let size = curl_off_t(upload?.bytes ?? 0)
            try unsafe CCurl_easy_setopt_offset(raw, CURLOPT_INFILESIZE_LARGE, size).check("CURLOPT_INFILESIZE_LARGE")
        case .post:
            // The size must be set first: without it, libcurl copies up to a zero byte.
            try set(CURLOPT_POSTFIELDSIZE, to: body.count)
            // The base address of an empty array may be nil, which libcurl takes for no body; so a byte is added.
            var copied = body + [0]
            let code = unsafe copied.withUnsafeMutableBytes { bytes in
                unsafe CCurl_easy_setopt_pointer(raw, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress)
            }
            try code.check("set CURLOPT_COPYPOSTFIELDS")
        }
    }

    /// Lines that remove the headers that libcurl adds to a POST: `Expect`, to which many servers do not respond, and
    /// the `Content-Type` of a form unless the caller sets one.
    ///
    /// A PUT keeps `Expect`, so that a missing permission is known before 50 MB are sent. Signed requests are not
    /// changed, since libcurl signs these lines too.
    private static func suppressedHeaders(_ settings: TransferSettings) -> [String] {
        guard settings.method == .post, settings.signature == nil else { return [] }
        let namesType = settings.headers.contains { $0.lowercased().hasPrefix("content-type:") }
        return ["Expect:"] + (namesType ? [] : ["Content-Type:"])
    }

    /// libcurl's receive buffer in bytes; halves the calls compared to the default of 16 KiB. libcurl 7.88 reads once
    /// more after `curl_easy_pause`, so a paused transfer has read at most 64 KiB that may be rejected.
    private static let bufferBytes = 32_768

    /// libcurl's send buffer in bytes; a quarter of the calls compared to the default of 64 KiB.
    private static let uploadBufferBytes = 262_144

    private func install() throws(CurlError) {
        let context = unsafe Unmanaged.passUnretained(events).toOpaque()
        try unsafe set(CURLOPT_ERRORBUFFER, to: UnsafeMutableRawPointer(errorText.baseAddress))
        try unsafe CCurl_easy_setopt_write(raw, CURLOPT_HEADERFUNCTION, curlHeader).check("CURLOPT_HEADERFUNCTION")
        try unsafe set(CURLOPT_HEADERDATA, to: context)
        try unsafe CCurl_easy_setopt_write(raw, CURLOPT_WRITEFUNCTION, curlBody).check("CURLOPT_WRITEFUNCTION")
        try unsafe set(CURLOPT_WRITEDATA, to: context)
        try unsafe CCurl_easy_setopt_opensocket(raw, curlOpenSocket).check("CURLOPT_OPENSOCKETFUNCTION")
        try unsafe set(CURLOPT_OPENSOCKETDATA, to: context)
        try unsafe CCurl_easy_setopt_closesocket(raw, curlCloseSocket).check("CURLOPT_CLOSESOCKETFUNCTION")
        try unsafe set(
            CURLOPT_CLOSESOCKETDATA, to: Unmanaged.passUnretained(events.connection.watch.sockets).toOpaque())
        try unsafe CCurl_easy_setopt_prereq(raw, curlPreRequest).check("CURLOPT_PREREQFUNCTION")
        try unsafe set(CURLOPT_PREREQDATA, to: context)
        try unsafe CCurl_easy_setopt_read(raw, curlRead).check("CURLOPT_READFUNCTION")
        try unsafe set(CURLOPT_READDATA, to: context)
        try unsafe CCurl_easy_setopt_seek(raw, curlSeek).check("CURLOPT_SEEKFUNCTION")
        try unsafe set(CURLOPT_SEEKDATA, to: context)
    }

    private func set(_ option: CURLoption, to value: Int) throws(CurlError) {
        try unsafe CCurl_easy_setopt_long(raw, option, value).check("set option \(option.rawValue)")
    }

    private func set(_ option: CURLoption, to value: String) throws(CurlError) {
        try unsafe CCurl_easy_setopt_string(raw, option, value).check("set option \(option.rawValue)")
    }

    private func set(_ option: CURLoption, to value: CurlList) throws(CurlError) {
        try unsafe CCurl_easy_setopt_list(raw, option, value.head).check("set option \(option.rawValue)")
    }

    private func set(_ option: CURLoption, to value: UnsafeMutableRawPointer?) throws(CurlError) {
        try unsafe CCurl_easy_setopt_pointer(raw, option, value).check("set option \(option.rawValue)")
    }

    /// The error for the code of a finished transfer, with the text of libcurl's error buffer.
    func error(_ code: CURLcode) -> CurlError {
        let text = unsafe errorText.baseAddress.map { unsafe String(cString: $0) } ?? ""
        return CurlError(code, "transfer", text: text)
    }
}

extension Duration {
    /// Whole milliseconds, at least 1: libcurl takes 0 for its default.
    var wholeMilliseconds: Int {
        let parts = components
        let milliseconds = Int(clamping: parts.seconds).multiplied(clamping: 1_000)
        return max(1, milliseconds.adding(clamping: Int(clamping: parts.attoseconds / 1_000_000_000_000_000)))
    }
}

extension EasyHandle {
    /// A report on the transfer so far; values that libcurl does not have are omitted.
    func report(_ ending: TransferEnding) -> TransferReport {
        var report = TransferReport(ending)
        report.httpVersion = httpVersion
        report.connectionsOpened = number(CURLINFO_NUM_CONNECTS)
        let proxyStatus = number(CURLINFO_HTTP_CONNECTCODE)
        report.proxyStatus = proxyStatus > 0 ? proxyStatus : nil
        let retryAfterSeconds = offset(CURLINFO_RETRY_AFTER)
        report.retryAfter = retryAfterSeconds > 0 ? .seconds(clamping: retryAfterSeconds) : nil
        let nameLookup = milliseconds(CURLINFO_NAMELOOKUP_TIME_T)
        let connected = milliseconds(CURLINFO_CONNECT_TIME_T)
        let secured = milliseconds(CURLINFO_APPCONNECT_TIME_T)
        let requested = milliseconds(CURLINFO_PRETRANSFER_TIME_T)
        let answered = milliseconds(CURLINFO_STARTTRANSFER_TIME_T)
        report.timings.connect = max(0, connected - nameLookup)
        report.timings.tls = secured > 0 ? max(0, secured - connected) : 0
        report.timings.firstByte = answered > 0 ? max(0, answered - requested) : 0
        report.timings.transfer = answered > 0 ? max(0, milliseconds(CURLINFO_TOTAL_TIME_T) - answered) : 0
        return report
    }

    private var httpVersion: String? {
        switch number(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): "1.0"
        case Int(CURL_HTTP_VERSION_1_1): "1.1"
        case Int(CURL_HTTP_VERSION_2_0): "2"
        default: nil
        }
    }

    private func number(_ info: CURLINFO) -> Int {
        var value = 0
        guard unsafe CCurl_easy_getinfo_long(raw, info, &value) == CURLE_OK else { return 0 }
        return value
    }

    private func milliseconds(_ info: CURLINFO) -> Double {
        Double(offset(info)) / 1_000
    }

    private func offset(_ info: CURLINFO) -> Int {
        var value: curl_off_t = 0
        guard unsafe CCurl_easy_getinfo_offset(raw, info, &value) == CURLE_OK else { return 0 }
        return Int(value)
    }
}

/// Owns a `curl_slist` of lines.
@safe final class CurlList {
    private(set) var head: UnsafeMutablePointer<curl_slist>?

    /// - Throws: When memory runs out.
    init(_ lines: [String]) throws(CurlError) {
        for line in lines {
            guard let longer = unsafe curl_slist_append(head, line) else {
                throw CurlError(CURLE_OUT_OF_MEMORY, "curl_slist_append")
            }
            unsafe head = longer
        }
    }

    deinit {
        unsafe curl_slist_free_all(head)
    }
}
