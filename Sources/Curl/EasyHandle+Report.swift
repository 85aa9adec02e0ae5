internal import CCurl
internal import SafeArithmetic

extension EasyHandle {
    /// What the transfer took so far; a figure that libcurl cannot give is left out.
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
        // Bounded: floating-point numbers, here and below.
        report.timings.connect = max(0, connected - nameLookup)
        // Bounded: floating-point numbers.
        report.timings.tls = secured > 0 ? max(0, secured - connected) : 0
        // Bounded: floating-point numbers.
        report.timings.firstByte = answered > 0 ? max(0, answered - requested) : 0
        // Bounded: floating-point numbers.
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
        // Bounded: the same 64 bits.
        return Int(value)
    }
}
