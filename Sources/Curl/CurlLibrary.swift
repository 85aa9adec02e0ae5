internal import CCurl

/// The process-wide part of libcurl.
package enum CurlLibrary {
    /// The version this process runs with, such as "libcurl/7.88.1 OpenSSL/3.0.22 …".
    package static var version: String { unsafe String(cString: curl_version()) }

    /// Initialises libcurl once per process, before the first handle.
    ///
    /// - Throws: when libcurl or its TLS library does not start.
    static func start() throws(CurlError) {
        try started.check("curl_global_init")
    }

    /// A static's initialiser runs once, whatever thread comes first; there is no global clean-up, the process ends.
    private static let started: CURLcode = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
}
