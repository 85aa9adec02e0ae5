internal import CCurl

/// A web address in libcurl's reading, so that what we check is what libcurl will use.
///
/// Spaces and non-ASCII bytes are percent-encoded, international host names become Punycode, numeric spellings of IPv4
/// addresses (decimal, octal, hexadecimal, short) become dotted quads, the fragment is dropped.
/// <https://curl.se/libcurl/c/libcurl-url.html>
package struct CurlURL: Hashable, Sendable {
    /// Lower case.
    package let scheme: String
    /// Lower case, ASCII, an IPv6 address without its brackets.
    package let host: String
    /// The scheme's own where none was written; 0 for a scheme without one.
    package let port: Int
    /// User and password as written before the host, decoded; nil without them.
    package let credentials: CurlCredentials?
    /// The whole address without user info and fragment.
    package let text: String

    /// - Throws: when libcurl cannot read it.
    package init(parsing text: String) throws(CurlError) {
        try self.init(CurlURLParts(text))
    }

    /// The address that a reference (a `Location` header) leads to from this one.
    ///
    /// - Throws: when the reference cannot be read.
    package func resolving(_ reference: String) throws(CurlError) -> CurlURL {
        let parts = try CurlURLParts(text)
        try parts.set(CURLUPART_URL, to: reference)
        return try CurlURL(parts)
    }

    private init(_ parts: CurlURLParts) throws(CurlError) {
        scheme = try parts.get(CURLUPART_SCHEME).lowercased()
        let asciiHost = try UTF8Locale.run { () throws(CurlError) in
            try parts.get(CURLUPART_HOST, CURLU_PUNYCODE | CURLU_URLDECODE)
        }
        try parts.set(CURLUPART_HOST, to: asciiHost.lowercased())
        let isBracketed = asciiHost.hasPrefix("[") && asciiHost.hasSuffix("]")
        host = isBracketed ? String(asciiHost.lowercased().dropFirst().dropLast()) : asciiHost.lowercased()
        port = Int(try parts.find(CURLUPART_PORT, CURLU_DEFAULT_PORT) ?? "0") ?? 0
        let user = try parts.find(CURLUPART_USER, CURLU_URLDECODE)
        let password = try parts.find(CURLUPART_PASSWORD, CURLU_URLDECODE)
        let isAnonymous = user == nil && password == nil
        credentials = isAnonymous ? nil : CurlCredentials(user: user ?? "", password: password ?? "")
        for part in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_FRAGMENT] {
            try parts.set(part, to: nil)
        }
        self.text = try parts.get(CURLUPART_URL)
    }
}

/// User and password, for HTTP Basic authentication.
package struct CurlCredentials: Hashable, Sendable {
    package let user: String
    package let password: String
}
