package import AttachPrepModel
internal import Crypto
internal import Curl
internal import FoundationEssentials
import RichPush
internal import SafeArithmetic

/// A valid http or https URL, normalized by libcurl: the target of one hop.
package struct WebAddress: Sendable, Hashable {
    private let url: CurlURL
    private let httpsOnly: Bool

    /// Parses a URL.
    ///
    /// - Throws: `source.invalid_url`, or `source.scheme_not_allowed` for anything but http and https.
    package init(_ text: String, httpsOnly: Bool = false) throws(AttachPrepError) {
        let text = try Self.checked(text)
        if let scheme = Self.schemeWritten(in: text), !Self.schemes.contains(scheme) {
            throw .unsupportedScheme(scheme, shown: RedactedURL.excerpt(text))
        }
        let url: CurlURL
        do {
            url = try CurlURL(parsing: text)
        } catch {
            throw .invalidURL(RedactedURL.excerpt(text), detail: error.description)
        }
        try self.init(url, httpsOnly: httpsOnly)
    }

    /// The text without white space at its ends.
    ///
    /// - Throws: `source.invalid_url` for a text that is too long, or whose combining marks make comparing it slow.
    private static func checked(_ text: String) throws(AttachPrepError) -> String {
        guard text.utf8.count <= Limits.urlBytesMax else { throw .urlTooLong(text.utf8.count) }
        guard CombiningMarks.areBounded(in: text) else { throw .invalidURL(RedactedURL.excerpt(text)) }
        return String(text.trimmingWhitespace)
    }

    private init(_ url: CurlURL, httpsOnly: Bool) throws(AttachPrepError) {
        func shown() -> String { RedactedURL.excerpt(url.text) }
        guard Self.schemes.contains(url.scheme) else { throw .unsupportedScheme(url.scheme, shown: shown()) }
        guard !httpsOnly || url.scheme == "https" else { throw .httpsRequired(shown()) }
        guard !url.host.isEmpty, url.port > 0 else { throw .invalidURL(shown()) }
        // Converting the name to ASCII turns a circled digit into a digit, so that libcurl, which parses the text
        // again, could find an IP address where a name was checked.
        guard let again = try? CurlURL(parsing: url.text), again.host == url.host else { throw .invalidURL(shown()) }
        self.url = url
        self.httpsOnly = httpsOnly
    }

    /// Resolves a `Location` header against this URL and checks the result in the same way.
    ///
    /// - Throws: The same errors as `init`.
    package func following(_ location: String) throws(AttachPrepError) -> WebAddress {
        let location = try Self.checked(location)
        if let scheme = Self.schemeWritten(in: location), !Self.schemes.contains(scheme) {
            throw .unsupportedScheme(scheme, shown: RedactedURL.excerpt(location))
        }
        let next: CurlURL
        do {
            next = try url.resolving(location)
        } catch {
            throw .invalidURL(RedactedURL.excerpt(location), detail: error.description)
        }
        guard next.text.utf8.count <= Limits.urlBytesMax else { throw .urlTooLong(next.text.utf8.count) }
        return try WebAddress(next, httpsOnly: httpsOnly)
    }

    /// The URL without user info and fragment, as passed to libcurl.
    package var text: String { url.text }
    /// The URL without secrets, for display.
    package var shown: String { RedactedURL.redact(url.text) }
    /// The host in ASCII and lower case, IPv6 without brackets.
    package var host: String { url.host }
    package var port: Int { url.port }
    /// The path, percent-encoded, without the query.
    var path: ForeignText { ForeignText(url.path) }
    /// Whether the connection is encrypted.
    var isSecure: Bool { url.scheme == "https" }
    /// The IP address if the host is one.
    package var literal: IPAddress? { IPAddress(url.host) }
    /// Scheme, host and port. The caller's headers and credentials are sent only to the first origin.
    package var origin: String { "\(url.scheme)://\(url.host):\(url.port)" }
    /// SHA-256 of `text` in hexadecimal: identifies the URL without exposing its secrets.
    var digest: String { SHA256.hash(data: Array(text.utf8)).hexadecimal }
    /// The user info as the value of an `Authorization` header; nil without it.
    var basicAuthorization: String? { url.credentials.map(\.basicAuthorization) }

    private static let schemes: Set<String> = ["http", "https"]

    /// The scheme of "scheme:…", but not of "host:8080/…".
    private static func schemeWritten(in text: String) -> String? {
        guard let colon = text.firstIndex(of: ":"), text[..<colon].first?.isLetter == true else { return nil }
        let isScheme = text[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let isPort = text[colon...].dropFirst().first?.isNumber ?? false
        return isScheme && !isPort ? text[..<colon].lowercased() : nil
    }
}

extension AttachPrepError {
    fileprivate static func invalidURL(_ shown: String, detail: String? = nil) -> AttachPrepError {
        AttachPrepError(
            .sourceInvalidURL, "\(shown) is not a valid URL; use one such as https://host/path.", detail: detail)
    }

    fileprivate static func urlTooLong(_ bytes: Int) -> AttachPrepError {
        AttachPrepError(
            .sourceInvalidURL,
            "The URL is \(bytes.grouped) bytes long, over the limit of \(Limits.urlBytesMax.grouped); shorten it.")
    }

    fileprivate static func unsupportedScheme(_ scheme: String, shown: String) -> AttachPrepError {
        AttachPrepError(
            .sourceSchemeNotAllowed,
            "\(shown) uses the scheme \(MessageText.excerpt(scheme, bytesMax: 32)); use an http or https URL.")
    }

    fileprivate static func httpsRequired(_ shown: String) -> AttachPrepError {
        AttachPrepError(
            .sourceSchemeNotAllowed, "\(shown) is not https, which is required here; use an https URL.")
    }
}

extension CurlCredentials {
    /// The value of an `Authorization` header for Basic authentication (RFC 7617).
    var basicAuthorization: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
}
