internal import CCurl

/// What libcurl answered when it was not "OK": the raw code, and what was being attempted.
///
/// The text is libcurl's own and may hold addresses and paths: it is for the log, never for a client.
package struct CurlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// libcurl numbers the codes of its three interfaces separately.
    package enum Interface: String, Hashable, Sendable {
        case easy, multi, url
    }

    package let interface: Interface
    /// The number as libcurl gave it, of type `CURLcode`, `CURLMcode` or `CURLUcode`.
    package let rawCode: UInt32
    /// What was being attempted, such as "set CURLOPT_URL".
    package let operation: String
    /// libcurl's own sentence.
    package let text: String

    package init(interface: Interface, rawCode: UInt32, operation: String, text: String) {
        self.interface = interface
        self.rawCode = rawCode
        self.operation = operation
        self.text = text
    }

    /// The code of a transfer; nil when another interface failed.
    package var code: CurlCode? { interface == .easy ? CurlCode(rawValue: rawCode) : nil }

    /// Whether the TLS library ended a transfer that had been going on.
    ///
    /// TLS 1.3 lets a client finish its handshake before the server has looked at it; a wish for a client certificate
    /// then comes as an alert while the answer is read, for which libcurl has no code of its own. OpenSSL's texts begin
    /// "error:0A" (the number of its TLS part); reason 0x126, a connection that ends unannounced, is no alert.
    package var isTLSFailure: Bool { text.contains("error:0A") && !text.contains("error:0A000126") }

    package var description: String { "curl \(interface.rawValue) \(rawCode): \(operation): \(text)" }
}

extension CurlError {
    init(_ code: CURLcode, _ operation: String, text: String = "") {
        let general = unsafe String(cString: curl_easy_strerror(code))
        self.init(
            interface: .easy, rawCode: code.rawValue, operation: operation, text: text.isEmpty ? general : text)
    }

    init(_ code: CURLMcode, _ operation: String) {
        let text = unsafe String(cString: curl_multi_strerror(code))
        self.init(interface: .multi, rawCode: UInt32(bitPattern: code.rawValue), operation: operation, text: text)
    }

    init(_ code: CURLUcode, _ operation: String) {
        let text = unsafe String(cString: curl_url_strerror(code))
        self.init(interface: .url, rawCode: code.rawValue, operation: operation, text: text)
    }
}

extension CURLcode {
    /// Throws unless the call succeeded.
    func check(_ operation: String) throws(CurlError) {
        guard self == CURLE_OK else { throw CurlError(self, operation) }
    }
}

extension CURLMcode {
    /// Throws unless the call succeeded.
    func check(_ operation: String) throws(CurlError) {
        guard self == CURLM_OK else { throw CurlError(self, operation) }
    }
}

extension CURLUcode {
    /// Throws unless the call succeeded.
    func check(_ operation: String) throws(CurlError) {
        guard self == CURLUE_OK else { throw CurlError(self, operation) }
    }
}
