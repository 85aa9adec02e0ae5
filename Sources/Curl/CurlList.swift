internal import CCurl

/// A list of lines in libcurl's own form, released with its owner.
@safe final class CurlList {
    private(set) var head: UnsafeMutablePointer<curl_slist>?

    /// - Throws: when memory runs out.
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
