internal import CCurl
internal import Glibc

/// A URL parsed by libcurl's own parser, so that the URL that is checked is the one that libcurl uses.
///
/// Spaces, quotation marks, `<`, `>`, backticks and non-ASCII bytes are percent-encoded, international host names
/// become Punycode, numeric spellings of IPv4 addresses (decimal, octal, hexadecimal, short) become dotted quads, the
/// fragment is removed.
/// <https://curl.se/libcurl/c/libcurl-url.html>
package struct CurlURL: Hashable, Sendable {
    /// The scheme in lowercase.
    package let scheme: String
    /// The host in lowercase and ASCII, IPv6 without brackets.
    package let host: String
    /// The port, or the default of the scheme; 0 if it has none.
    package let port: Int
    /// The decoded user info; nil without it.
    package let credentials: CurlCredentials?
    /// The path, percent-encoded; "/" when the URL has none.
    package let path: String
    /// The whole URL without user info and fragment.
    package let text: String

    /// - Throws: When libcurl cannot parse it.
    package init(parsing text: String) throws(CurlError) {
        try self.init(CurlURLParts(text))
    }

    /// Resolves a reference, such as a `Location` header, against this URL.
    ///
    /// - Throws: When libcurl cannot parse the reference.
    package func resolving(_ reference: String) throws(CurlError) -> CurlURL {
        let parts = try CurlURLParts(text)
        try parts.set(CURLUPART_URL, to: reference)
        return try CurlURL(parts)
    }

    private init(_ parts: CurlURLParts) throws(CurlError) {
        scheme = try parts.get(CURLUPART_SCHEME).lowercased()
        let declaredHost = try parts.get(CURLUPART_HOST, flags: CURLU_URLDECODE)
        // glibc loads the locale from a file each time.
        let asciiHost =
            declaredHost.utf8.allSatisfy { $0 < 0x80 }
            ? declaredHost
            : try UTF8Locale.run { () throws(CurlError) in
                try parts.get(CURLUPART_HOST, flags: CURLU_PUNYCODE | CURLU_URLDECODE)
            }
        try parts.set(CURLUPART_HOST, to: asciiHost.lowercased())
        let isBracketed = asciiHost.hasPrefix("[") && asciiHost.hasSuffix("]")
        host = isBracketed ? String(asciiHost.lowercased().dropFirst().dropLast()) : asciiHost.lowercased()
        port = Int(try parts.find(CURLUPART_PORT, flags: CURLU_DEFAULT_PORT) ?? "0") ?? 0
        let user = try parts.find(CURLUPART_USER, flags: CURLU_URLDECODE)
        let password = try parts.find(CURLUPART_PASSWORD, flags: CURLU_URLDECODE)
        let isAnonymous = user == nil && password == nil
        credentials = isAnonymous ? nil : CurlCredentials(user: user ?? "", password: password ?? "")
        for part in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_FRAGMENT] {
            try parts.set(part, to: nil)
        }
        path = try parts.get(CURLUPART_PATH)
        self.text = try parts.get(CURLUPART_URL)
    }
}

/// User and password, for HTTP Basic authentication.
package struct CurlCredentials: Hashable, Sendable {
    package let user: String
    package let password: String
}

/// Owns a `CURLU` handle.
@safe final class CurlURLParts {
    private let handle: OpaquePointer

    /// - Throws: When libcurl cannot parse the text.
    init(_ text: String) throws(CurlError) {
        guard let handle = unsafe curl_url() else { throw CurlError(CURLUE_OUT_OF_MEMORY, "curl_url") }
        unsafe self.handle = handle
        try set(CURLUPART_URL, to: text)
    }

    deinit {
        unsafe curl_url_cleanup(handle)
    }

    /// Replaces or removes one part; a value for CURLUPART_URL may also be a reference relative to the current URL.
    func set(_ part: CURLUPart, to value: String?) throws(CurlError) {
        guard part == CURLUPART_URL, let value else {
            try unsafe curl_url_set(handle, part, value, 0).check("set a part of the URL")
            return
        }
        // C strings end at a zero byte, so that another text than the checked one would be used.
        guard !value.utf8.contains(0) else { throw CurlError(CURLUE_MALFORMED_INPUT, "parse the URL") }
        // Unsupported schemes are parsed as well, so that the error can name them.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE)
        try unsafe curl_url_set(handle, part, Self.escaped(value), flags).check("parse the URL")
    }

    /// The text with the characters percent-encoded that browsers encode and libcurl does not. libcurl encodes a space
    /// in a query as "+", which only form decoders read as a space.
    private static func escaped(_ text: String) -> String {
        let escapes: [UInt8: String] = [0x20: "%20", 0x22: "%22", 0x3C: "%3C", 0x3E: "%3E", 0x60: "%60"]
        guard text.utf8.contains(where: { escapes[$0] != nil }) else { return text }
        return String(decoding: text.utf8.flatMap { escapes[$0].map { Array($0.utf8) } ?? [$0] }, as: UTF8.self)
    }

    /// The value of a part.
    ///
    /// - Throws: When the URL does not have it.
    func get(_ part: CURLUPart, flags: Int32 = 0) throws(CurlError) -> String {
        var text: UnsafeMutablePointer<CChar>?
        try unsafe curl_url_get(handle, part, &text, UInt32(flags)).check("get a part of the URL")
        guard let text = unsafe text else { throw CurlError(CURLUE_OUT_OF_MEMORY, "curl_url_get") }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }

    /// The value of a part; nil when the URL does not have it.
    func find(_ part: CURLUPart, flags: Int32) throws(CurlError) -> String? {
        do {
            return try get(part, flags: flags)
        } catch {
            let absent = [CURLUE_NO_USER, CURLUE_NO_PASSWORD, CURLUE_NO_PORT].map(\.rawValue)
            guard absent.contains(error.rawCode) else { throw error }
            return nil
        }
    }
}

/// Sets a UTF-8 locale for one call on the current thread.
///
/// libcurl passes international host names to libidn2 in the encoding of the locale, which is "C" in a Swift process. A
/// library should not change the locale of the whole process.
enum UTF8Locale {
    /// Runs `body` with the locale C.UTF-8 on this thread, if the system has it.
    static func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        guard let locale = unsafe newlocale(Int32(LC_CTYPE_MASK), "C.UTF-8", nil) else { return try body() }
        let previous = unsafe uselocale(locale)
        defer {
            _ = unsafe uselocale(previous)
            unsafe freelocale(locale)
        }
        return try body()
    }
}
