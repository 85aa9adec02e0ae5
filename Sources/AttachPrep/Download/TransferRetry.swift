internal import AttachPrepModel
internal import Curl
package import RichPush

/// The error of a transfer that did not complete, and whether another attempt may succeed.
struct TransferError: Sendable, Hashable {
    /// Whether to try again.
    enum Remedy: Sendable, Hashable {
        case none
        /// Try again later, resuming with a range request if the server supports it.
        case retry
    }

    let error: AttachPrepError
    let remedy: Remedy
}

extension TransferError {
    /// What is known about a failed transfer.
    struct Facts: Sendable, Hashable {
        var host: String
        var limits: DownloadTimeouts
        /// Whether the response head was complete: then the failure truncated a file.
        var hasHead: Bool
        /// Bytes in the file.
        var bytes: Int
        /// Bytes of the whole file, if known.
        var total: Int?
        /// The status of a proxy's response to CONNECT.
        var proxyStatus: Int?
    }

    /// - Returns: Nil when the transfer completed.
    init?(_ ending: TransferEnding, _ facts: Facts) {
        let host = facts.host
        switch ending {
        case .completed: return nil
        case .connectTimedOut: self = .timeout("\(host) did not accept a connection within", facts.limits.connect)
        case .firstByteTimedOut: self = .timeout("\(host) did not answer within", facts.limits.firstByte)
        case .stalled: self = .timeout("\(host) sent too little data for", facts.limits.stall)
        case .deadlineReached: self.init(error: .deadlineExceeded(host), remedy: .none)
        case .cancelled: self.init(error: .cancelled(host), remedy: .none)
        case .transferCodingRefused: self.init(error: .rejectedTransferCoding(host), remedy: .none)
        case .abandoned: self.init(error: .internalFailure("the transfer loop was abandoned"), remedy: .retry)
        case .failed(let error): self.init(error, facts)
        }
    }

    private init(_ error: CurlError, _ facts: Facts) {
        let (host, detail) = (facts.host, error.description)
        guard let code = error.code else {
            self.init(error: .internalFailure(detail), remedy: .none)
            return
        }
        if let status = facts.proxyStatus, status >= 400 {
            self.init(error: .rejectedByProxy(host, status, detail), remedy: .none)
            return
        }
        if error.isTLSFailure, !facts.hasHead {
            self.init(error: .tlsFailed(host, detail), remedy: .none)
            return
        }
        switch code {
        case .timedOut: self = .timeout("\(host) did not accept a connection within", facts.limits.connect)
        case .couldNotConnect: self.init(error: .notConnected(host, detail), remedy: .retry)
        case .couldNotResolveHost, .couldNotResolveProxy, .proxyHandshake:
            self.init(error: .notConnected(host, detail), remedy: .none)
        case .gotNothing, .sendError, .receiveError, .http2, .http2Stream, .partialFile:
            let truncated = AttachPrepError.truncated(host, bytes: facts.bytes, total: facts.total, detail: detail)
            self.init(error: facts.hasHead ? truncated : .connectionClosed(host, detail), remedy: .retry)
        case .weirdServerReply, .unsupportedProtocol, .badFunctionArgument:
            self.init(error: .notHTTP(host, detail), remedy: .none)
        case .badContentEncoding: self.init(error: .rejectedTransferCoding(host), remedy: .none)
        case .outOfMemory where !facts.hasHead, .tooLarge: self.init(error: .headersTooLarge(host), remedy: .none)
        case _ where code.isTLS: self.init(error: .tlsFailed(host, detail), remedy: .none)
        default: self.init(error: .internalFailure(detail), remedy: .none)
        }
    }

    private static func timeout(_ words: String, _ limit: Duration) -> TransferError {
        let sentence = "\(words) \(limit.inSeconds); try again later or check the server."
        return TransferError(error: AttachPrepError(.downloadTimeout, sentence), remedy: .retry)
    }
}

extension AttachPrepError {
    fileprivate static func rejectedByProxy(_ host: String, _ status: Int, _ detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadConnect, "The proxy refused a connection to \(host) (status \(status)); check its rules.",
            detail: detail, isRetryable: status >= 500)
    }

    fileprivate static func notConnected(_ host: String, _ detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadConnect, "No connection to \(host) could be made; check the URL and the server.",
            detail: detail)
    }

    static func connectionClosed(_ host: String, _ detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadConnect, "\(host) closed the connection without an answer; try again or check the server.",
            detail: detail)
    }

    fileprivate static func tlsFailed(_ host: String, _ detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadTLS,
            "No TLS connection to \(host) could be made; check its certificate, or trust its CA (CA file).",
            detail: detail)
    }

    static func notHTTP(_ host: String, _ detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadHTTPStatus, "\(host) did not send a valid HTTP response; check the URL and its port.",
            detail: detail, isRetryable: false)
    }

    static func internalFailure(_ detail: String) -> AttachPrepError {
        AttachPrepError(.internal, "The download failed inside attachprep; try again.", detail: detail)
    }
}

/// Computes the wait before another attempt: exponential backoff with full jitter.
package struct RetrySchedule: Sendable, Hashable {
    /// The longest wait before the second attempt.
    package var backOff: Duration
    package var attemptsMax = Limits.downloadAttemptsMax
    /// The longest wait after any number of attempts, without `Retry-After`; nil for no limit.
    package var backOffMax: Duration?

    package init(backOff: Duration) {
        self.backOff = backOff
    }

    /// The wait after `tries` attempts; nil when no attempt or no time is left.
    ///
    /// A server's `Retry-After` is a lower bound.
    /// - Parameters:
    ///   - chance: A random number in 0..<1.
    ///   - timeLeft: The time until the deadline.
    package func delay(afterTries tries: Int, chance: Double, retryAfter: Duration?, timeLeft: Duration) -> Duration? {
        guard tries < attemptsMax else { return nil }
        // Bounded: the backoff is a fraction of a second, and is doubled at most 16 times.
        let doubled = backOff * (1 << min(tries - 1, 16))
        let delayMax = min(doubled, backOffMax ?? doubled)
        // Bounded: at most the delayMax or the `Retry-After` that `EasyHandle.report` clamps.
        let delay = max(delayMax * chance, retryAfter ?? .zero)
        return delay < timeLeft ? delay : nil
    }
}

/// Where an interrupted download resumes, with the validator that ensures that the rest is of the same version.
package struct ResumePoint: Sendable, Hashable {
    /// Bytes already in the file.
    package let offset: Int
    /// The `If-Range` value: a strong ETag, else `Last-Modified`.
    package let validator: String
    /// Bytes of the whole file; nil if the server declared none.
    package let total: Int?
    let etag: String?

    /// Nil when resuming is impossible: no bytes were received, the body is encoded, ranges are not accepted, or no
    /// validator identifies the version.
    package init?(after head: ResponseHead, bytes: Int, total: Int?) {
        guard bytes > 0, !head.isEncoded, head["accept-ranges"]?.lowercased() != "none" else { return nil }
        let strong = head["etag"].flatMap { $0.hasPrefix("\"") ? $0 : nil }
        guard let validator = strong ?? head["last-modified"], Self.isValidHeaderValue(validator) else { return nil }
        offset = bytes
        self.validator = validator
        self.total = total
        etag = strong
    }

    /// Whether a validator is safe to send back unchanged: a line break in it would inject a header line.
    static func isValidHeaderValue(_ validator: String) -> Bool {
        validator.utf8.count <= Limits.validatorBytesMax
            && validator.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    /// The `Range` and `If-Range` header lines.
    var headerLines: [String] { ["Range: bytes=\(offset)-", "If-Range: \(validator)"] }

    /// Whether a 206 response continues the file at `offset` with the same version.
    package func isContinued(by head: ResponseHead) -> Bool {
        guard !head.isEncoded, let range = head.contentRange, range.first == offset else { return false }
        if let total, let other = range.total, total != other { return false }
        if let etag, let other = head["etag"], etag != other { return false }
        if etag == nil, let other = head["last-modified"], validator != other { return false }
        return head.isWholeRange
    }
}

extension Limits {
    /// Attempts of one transfer, including the first.
    package static let downloadAttemptsMax = 4
}
