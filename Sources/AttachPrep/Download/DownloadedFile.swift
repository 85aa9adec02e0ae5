/// What a download brought; the body stands in the descriptor that was given.
package struct DownloadedFile: Sendable, Hashable {
    /// After redirects; user info removed, signing query values redacted.
    package var finalURL: String
    /// The server's `Content-Type` in lower case, without parameters.
    package var declaredMIMEType: String?
    /// Decoded bytes in the file.
    package var bytes: Int
    /// Of those bytes, lower-case hexadecimal.
    package var sha256: String
    /// Which of the bodies that began this one is, from 1: what was read of an earlier one is of another file.
    package var generation = 1
    package var timings: DownloadTimings
    /// "1.0", "1.1" or "2", of the last answer.
    package var httpVersion: String?
    /// Tries, the first one included; redirects are not tries.
    package var attempts: Int
    /// What the servers on the way said of how long it holds.
    package var freshness = SourceFreshness()
}

/// Milliseconds by stage, summed over redirects and retries.
package struct DownloadTimings: Sendable, Hashable {
    package var dns = 0.0
    package var connect = 0.0
    package var tls = 0.0
    package var firstByte = 0.0
    package var transfer = 0.0

    package init() {}
}
