internal import CCurl
internal import SafeArithmetic

/// The owner of one `CURL`: one transfer, prepared and released on the loop's thread, never shared.
///
/// <https://curl.se/libcurl/c/libcurl-easy.html>
@safe final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    /// What the callbacks see; libcurl holds an unretained pointer to it.
    let events: TransferEvents
    private let headers: CurlList
    private let pins: CurlList
    private let errorText: UnsafeMutableBufferPointer<CChar>

    /// - Throws: when libcurl refuses an option or memory runs out.
    init(
        _ settings: TransferSettings, observer: any TransferObserver, watch: LoopWatch
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
            // Bounded: lists.
            headers = try CurlList(settings.headers + Self.silenced(settings))
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
        try set(CURLOPT_URL, settings.url)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_NOSIGNAL, 1)
        let version = settings.assumesHTTP2 ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE : CURL_HTTP_VERSION_2TLS
        // Bounded: one of two constants of libcurl.
        try set(CURLOPT_HTTP_VERSION, Int(version))
        // Over TLS the handshake tells whether a connection can be shared. Without TLS only an answer does, and a
        // server that does not answer one request would hold up every other one to it.
        try set(CURLOPT_PIPEWAIT, settings.url.hasPrefix("https:") ? 1 : 0)
        // What the system's own settings say may be older.
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // Bytes without a status line are no answer: whatever listens there speaks something else.
        try set(CURLOPT_HTTP09_ALLOWED, 0)
        try set(CURLOPT_FRESH_CONNECT, settings.opensConnection ? 1 : 0)
        try set(CURLOPT_BUFFERSIZE, Self.bufferBytes)
        try set(CURLOPT_CONNECTTIMEOUT_MS, settings.limits.connect.wholeMilliseconds)
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // An empty proxy also switches the proxy variables of the environment off.
        try set(CURLOPT_PROXY, settings.proxy ?? "")
        try set(CURLOPT_NOPROXY, "")
        // libcurl unpacks content codings, up to five at once, without a look at time or size: it never shall.
        // CURLOPT_ACCEPT_ENCODING stays unset too. Transfer codings are refused by `AnswerFraming`.
        try set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        if let file = settings.certificateAuthorityFile {
            try set(CURLOPT_CAINFO, file)
            try set(CURLOPT_PROXY_CAINFO, file)
        }
        if let userAgent = settings.userAgent { try set(CURLOPT_USERAGENT, userAgent) }
        if let signature = settings.signature { try prepare(signature) }
        try prepare(settings.method, settings.body, settings.upload)
        try set(CURLOPT_HTTPHEADER, headers)
        try set(CURLOPT_RESOLVE, pins)
    }

    private func prepare(_ signature: TransferSignature) throws(CurlError) {
        try set(CURLOPT_AWS_SIGV4, signature.provider)
        try set(CURLOPT_USERNAME, signature.accessKeyID)
        try set(CURLOPT_PASSWORD, signature.secretAccessKey)
    }

    private func prepare(_ method: TransferMethod, _ body: [UInt8], _ upload: TransferUpload?) throws(CurlError) {
        switch method {
        case .get: return
        case .delete: try set(CURLOPT_CUSTOMREQUEST, method.rawValue)
        case .head: try set(CURLOPT_NOBODY, 1)
        case .put:
            try set(CURLOPT_UPLOAD, 1)
            try set(CURLOPT_UPLOAD_BUFFERSIZE, Self.uploadBufferBytes)
            // Bounded: the same 64 bits.
            let size = curl_off_t(upload?.bytes ?? 0)
            try unsafe CCurl_easy_setopt_offset(raw, CURLOPT_INFILESIZE_LARGE, size).check("CURLOPT_INFILESIZE_LARGE")
        case .post:
            // The size first: without one libcurl looks for a zero byte.
            try set(CURLOPT_POSTFIELDSIZE, body.count)
            // An empty list may have no memory at all, which libcurl takes for no body; so there is always a byte.
            var copied = body + [0]
            let code = unsafe copied.withUnsafeMutableBytes { bytes in
                unsafe CCurl_easy_setopt_pointer(raw, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress)
            }
            try code.check("set CURLOPT_COPYPOSTFIELDS")
        }
    }

    /// Headers that libcurl would put into a POST by itself: a question before the body, which many servers leave
    /// unanswered, and a form's type where the caller names none.
    ///
    /// A PUT keeps the question: who may not write learns it before 50 MB are sent. And what is signed is left as it
    /// is, since libcurl signs these lines too.
    private static func silenced(_ settings: TransferSettings) -> [String] {
        guard settings.method == .post, settings.signature == nil else { return [] }
        let namesType = settings.headers.contains { $0.lowercased().hasPrefix("content-type:") }
        return ["Expect:"] + (namesType ? [] : ["Content-Type:"])
    }

    /// The size of libcurl's receive buffer: half the calls of the default 16 KiB. A transfer that is held has read two
    /// of them, as 7.88 reads once more after `curl_easy_pause`: no more than 64 KiB of what will be refused.
    private static let bufferBytes = 32_768

    /// The size of libcurl's send buffer: a quarter of the calls of the default 64 KiB.
    private static let uploadBufferBytes = 262_144

    private func install() throws(CurlError) {
        let context = unsafe Unmanaged.passUnretained(events).toOpaque()
        try unsafe set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorText.baseAddress))
        try unsafe CCurl_easy_setopt_write(raw, CURLOPT_HEADERFUNCTION, curlHeader).check("CURLOPT_HEADERFUNCTION")
        try unsafe set(CURLOPT_HEADERDATA, context)
        try unsafe CCurl_easy_setopt_write(raw, CURLOPT_WRITEFUNCTION, curlBody).check("CURLOPT_WRITEFUNCTION")
        try unsafe set(CURLOPT_WRITEDATA, context)
        try unsafe CCurl_easy_setopt_opensocket(raw, curlOpenSocket).check("CURLOPT_OPENSOCKETFUNCTION")
        try unsafe set(CURLOPT_OPENSOCKETDATA, context)
        try unsafe CCurl_easy_setopt_closesocket(raw, curlCloseSocket).check("CURLOPT_CLOSESOCKETFUNCTION")
        try unsafe set(
            CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(events.connection.watch.sockets).toOpaque())
        try unsafe CCurl_easy_setopt_prereq(raw, curlPreRequest).check("CURLOPT_PREREQFUNCTION")
        try unsafe set(CURLOPT_PREREQDATA, context)
        try unsafe CCurl_easy_setopt_read(raw, curlRead).check("CURLOPT_READFUNCTION")
        try unsafe set(CURLOPT_READDATA, context)
        try unsafe CCurl_easy_setopt_seek(raw, curlSeek).check("CURLOPT_SEEKFUNCTION")
        try unsafe set(CURLOPT_SEEKDATA, context)
    }

    private func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
        try unsafe CCurl_easy_setopt_long(raw, option, value).check("set option \(option.rawValue)")
    }

    private func set(_ option: CURLoption, _ value: String) throws(CurlError) {
        try unsafe CCurl_easy_setopt_string(raw, option, value).check("set option \(option.rawValue)")
    }

    private func set(_ option: CURLoption, _ value: CurlList) throws(CurlError) {
        try unsafe CCurl_easy_setopt_list(raw, option, value.head).check("set option \(option.rawValue)")
    }

    private func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) throws(CurlError) {
        try unsafe CCurl_easy_setopt_pointer(raw, option, value).check("set option \(option.rawValue)")
    }

    /// The error that a finished transfer's code stands for, with what libcurl wrote about it.
    func error(_ code: CURLcode) -> CurlError {
        let text = unsafe errorText.baseAddress.map { unsafe String(cString: $0) } ?? ""
        return CurlError(code, "transfer", text: text)
    }
}

extension Duration {
    /// Never 0, which libcurl takes for its own default.
    var wholeMilliseconds: Int {
        let parts = components
        let milliseconds = Int(clamping: parts.seconds).multiplied(clamping: 1_000)
        return max(1, milliseconds.adding(clamping: Int(clamping: parts.attoseconds / 1_000_000_000_000_000)))
    }
}
