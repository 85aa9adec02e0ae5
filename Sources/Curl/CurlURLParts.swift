internal import CCurl

/// The owner of one `CURLU`.
@safe final class CurlURLParts {
    private let handle: OpaquePointer

    /// - Throws: when the text is not an address libcurl can read.
    init(_ text: String) throws(CurlError) {
        guard let handle = unsafe curl_url() else { throw CurlError(CURLUE_OUT_OF_MEMORY, "curl_url") }
        unsafe self.handle = handle
        try set(CURLUPART_URL, to: text)
    }

    deinit {
        unsafe curl_url_cleanup(handle)
    }

    /// Replaces one part, or removes it; the whole address may also be a reference relative to the present one.
    func set(_ part: CURLUPart, to value: String?) throws(CurlError) {
        guard part == CURLUPART_URL, let value else {
            try unsafe curl_url_set(handle, part, value, 0).check("set a part of the address")
            return
        }
        // C would read the text up to the zero byte, and we would have checked another one.
        guard !value.utf8.contains(0) else { throw CurlError(CURLUE_MALFORMED_INPUT, "read the address") }
        // Schemes that libcurl does not speak are read too, so that they are refused by name.
        // Bounded: constants of libcurl.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE)
        // libcurl's own way with a space in a query is a plus sign, which only forms read as a space.
        let spaced = value.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "%20")
        try unsafe curl_url_set(handle, part, spaced, flags).check("read the address")
    }

    /// One part.
    ///
    /// - Throws: when it is not there.
    func get(_ part: CURLUPart, _ flags: Int32 = 0) throws(CurlError) -> String {
        var text: UnsafeMutablePointer<CChar>?
        // Bounded: constants of libcurl.
        try unsafe curl_url_get(handle, part, &text, UInt32(flags)).check("read a part of the address")
        guard let text = unsafe text else { throw CurlError(CURLUE_OUT_OF_MEMORY, "curl_url_get") }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }

    /// One part, nil when it is not there.
    func find(_ part: CURLUPart, _ flags: Int32) throws(CurlError) -> String? {
        do {
            return try get(part, flags)
        } catch {
            let absent = [CURLUE_NO_USER, CURLUE_NO_PASSWORD, CURLUE_NO_PORT].map(\.rawValue)
            guard absent.contains(error.rawCode) else { throw error }
            return nil
        }
    }
}
