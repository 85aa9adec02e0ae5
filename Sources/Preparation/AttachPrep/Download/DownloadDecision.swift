internal import AttachPrepModel
internal import Curl
package import MediaTypes
package import SafeArithmetic

/// What a download does after one request and its response.
enum DownloadDecision: Sendable, Hashable {
    /// The file is complete.
    case finish
    case follow(location: ForeignText)
    /// The server confirmed the version fetched before; nothing was downloaded.
    case unchanged
    /// Wait, then try again; the error is thrown when no attempt is left.
    case retry(AttachPrepError)
    /// Try again at once, without range and conditional headers.
    case startOver(AttachPrepError)
    /// Try again at once and store the bytes without decoding them.
    case startOverUndecoded(AttachPrepError)
    case fail(AttachPrepError)

    /// Decides by the first of these that applies: the `abortError`, deadline and cancellation, the response head, how
    /// the transport ended.
    init(after ending: TransferEnding, _ received: DownloadExchange.Received, _ facts: TransferError.Facts) {
        if let abortError = received.abortError {
            self = .fail(abortError)
        } else if ending == .deadlineReached || ending == .cancelled {
            self = Self.step(ending, facts: facts)
        } else if let verdict = received.verdict, !verdict.hasContent {
            self = Self.step(verdict, host: facts.host)
        } else if received.isUndecodable {
            self = .startOverUndecoded(.undecodable(facts.host))
        } else if ending == .completed, received.isCompressedStreamTruncated {
            self = .retry(.truncated(facts.host, bytes: facts.bytes, total: nil))
        } else if ending == .completed, received.verdict == nil {
            // libcurl reports success when the connection ends within the head.
            self = .retry(.connectionClosed(facts.host, detail: "completed without a whole head"))
        } else {
            self = Self.step(ending, facts: facts)
        }
    }

    private static func step(_ verdict: ResponseVerdict, host: String) -> DownloadDecision {
        switch verdict {
        case .redirect(let location): .follow(location: location)
        case .unusableRange, .unusableCondition: .startOver(.sourceChanged(host))
        case .unchanged: .unchanged
        case .busy(let status): .retry(.unexpectedStatus(host, status: status, isRetryable: true))
        case .gone(let status): .fail(.notFound(host, status: status))
        case .rejected(let status): .fail(.unexpectedStatus(host, status: status, isRetryable: false))
        case .ambiguous(let field): .fail(.ambiguousHeader(host, field: field))
        case .whole, .continuation: .finish
        }
    }

    private static func step(_ ending: TransferEnding, facts: TransferError.Facts) -> DownloadDecision {
        guard let failure = TransferError(ending, facts) else {
            // HTTP permits a server to send less than the requested range.
            guard let total = facts.total, facts.bytes < total else { return .finish }
            return .retry(.truncated(facts.host, bytes: facts.bytes, total: total))
        }
        return switch failure.remedy {
        case .none: .fail(failure.error)
        case .retry: .retry(failure.error)
        }
    }
}

/// What a response head means for the download, before any body byte.
package enum ResponseVerdict: Sendable, Hashable {
    /// The whole body follows; `total` is its declared size in bytes.
    case whole(total: Int?)
    /// The rest of a partial file follows; `total` is the size of the whole in bytes.
    case continuation(total: Int?)
    case redirect(location: ForeignText)
    /// The response does not match the requested range; the download starts over without a range.
    case unusableRange
    /// The file matches the validators that were sent (304).
    case unchanged
    /// A 304 for another version than the validators name; the download starts over without them.
    case unusableCondition
    /// A temporary failure: 408, 425, 429 or 5xx.
    case busy(status: Int)
    /// 404 or 410.
    case gone(status: Int)
    /// Any other status.
    case rejected(status: Int)
    /// A header field with contradictory values.
    case ambiguous(field: String)

    /// - Parameters:
    ///   - point: Where the file is continued; nil to begin it.
    ///   - validators: The validators of a conditional request; nil for another request.
    package init(
        _ head: ResponseHead, resuming point: ResumePoint?, asking validators: SourceValidators? = nil
    ) {
        if let field = head.ambiguousField {
            self = .ambiguous(field: field)
            return
        }
        self =
            switch head.status {
            case 206: Self.range(head, point: point)
            case 416 where point != nil: .unusableRange
            case 200...299: .whole(total: head.isEncoded ? nil : head.contentLength)
            case 304: Self.unmodified(head, validators: validators)
            case 301, 302, 303, 307, 308: Self.redirect(head)
            case 408, 425, 429, 500...599: .busy(status: head.status)
            case 404, 410: .gone(status: head.status)
            default: .rejected(status: head.status)
            }
    }

    /// Whether the body is written to the file.
    package var hasContent: Bool {
        switch self {
        case .whole, .continuation: true
        default: false
        }
    }

    private static func range(_ head: ResponseHead, point: ResumePoint?) -> ResponseVerdict {
        if let point {
            let total = head.contentRange?.total ?? point.total
            return point.isContinued(by: head) ? .continuation(total: total) : .unusableRange
        }
        // Some servers send 206 without a range request; accepted when the range is the whole file.
        guard let range = head.contentRange, range.first == 0, let total = range.total, range.end == total,
            head.isWholeRange
        else {
            return .rejected(status: head.status)
        }
        return .whole(total: head.isEncoded ? nil : total)
    }

    /// A 304 is an error unless the request was conditional.
    private static func unmodified(_ head: ResponseHead, validators: SourceValidators?) -> ResponseVerdict {
        guard let validators else { return .rejected(status: head.status) }
        return validators.contradicts(head) ? .unusableCondition : .unchanged
    }

    private static func redirect(_ head: ResponseHead) -> ResponseVerdict {
        guard let location = head["location"], !location.isEmpty else { return .rejected(status: head.status) }
        return .redirect(location: location)
    }
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
        /// The last header that was received completely; nil without one.
        var lastHeader: String?
    }

    /// - Returns: Nil when the transfer completed.
    init?(_ ending: TransferEnding, _ facts: Facts) {
        let host = facts.host
        switch ending {
        case .completed: return nil
        case .connectTimedOut:
            self = .timeout("\(host) did not accept a connection within", limit: facts.limits.connect)
        case .firstByteTimedOut: self = .timeout("\(host) did not answer within", limit: facts.limits.firstByte)
        case .stalled: self = .timeout("\(host) sent too little data for", limit: facts.limits.stall)
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
            self.init(error: .rejectedByProxy(host, status: status, detail: detail), remedy: .none)
            return
        }
        if error.isTLSAlert, !facts.hasHead {
            self.init(error: .tlsFailed(host, detail: detail), remedy: .none)
            return
        }
        if error.isHeaderWithoutColon {
            self.init(error: .headerWithoutColon(host, detail: detail), remedy: .none)
            return
        }
        switch code {
        case .timedOut: self = .timeout("\(host) did not accept a connection within", limit: facts.limits.connect)
        case .couldNotConnect: self.init(error: .notConnected(host, detail: detail), remedy: .retry)
        case .couldNotResolveHost, .couldNotResolveProxy, .proxyHandshake:
            self.init(error: .notConnected(host, detail: detail), remedy: .none)
        case .gotNothing, .sendError, .receiveError, .http2, .http2Stream, .partialFile:
            let truncated = AttachPrepError.truncated(host, bytes: facts.bytes, total: facts.total, detail: detail)
            self.init(error: facts.hasHead ? truncated : .connectionClosed(host, detail: detail), remedy: .retry)
        case .weirdServerReply, .unsupportedProtocol, .badFunctionArgument:
            self.init(error: .notHTTP(host, detail: detail), remedy: .none)
        case .badContentEncoding: self.init(error: .rejectedTransferCoding(host), remedy: .none)
        case .outOfMemory where !facts.hasHead, .tooLarge:
            self.init(error: .headerLineTooLong(host, after: facts.lastHeader), remedy: .none)
        case _ where code.isTLS: self.init(error: .tlsFailed(host, detail: detail), remedy: .none)
        default: self.init(error: .internalFailure(detail), remedy: .none)
        }
    }

    private static func timeout(_ words: String, limit: Duration) -> TransferError {
        let sentence = "\(words) \(limit.inSeconds); try again later or check the server."
        return TransferError(error: AttachPrepError(.downloadTimeout, sentence), remedy: .retry)
    }
}

extension AttachPrepError {
    fileprivate static func notFound(_ host: String, status: Int) -> AttachPrepError {
        AttachPrepError(
            .sourceNotFound, "\(host) has no such file (status \(status)); check the URL.", status: status)
    }

    fileprivate static func unexpectedStatus(_ host: String, status: Int, isRetryable: Bool) -> AttachPrepError {
        let remedy = isRetryable ? "try again later" : "check the URL and the access it needs"
        return AttachPrepError(
            .downloadHTTPStatus, "\(host) answered with status \(status) instead of the file; \(remedy).",
            isRetryable: isRetryable, status: status)
    }

    fileprivate static func sourceChanged(_ host: String) -> AttachPrepError {
        AttachPrepError(.downloadTruncated, "The file on \(host) changed while it was being fetched; try again.")
    }

    fileprivate static func rejectedByProxy(_ host: String, status: Int, detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadConnect, "The proxy refused a connection to \(host) (status \(status)); check its rules.",
            detail: detail, isRetryable: status >= 500)
    }

    fileprivate static func notConnected(_ host: String, detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadConnect, "No connection to \(host) could be made; check the URL and the server.",
            detail: detail)
    }

    static func connectionClosed(_ host: String, detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadConnect, "\(host) closed the connection without an answer; try again or check the server.",
            detail: detail)
    }

    fileprivate static func tlsFailed(_ host: String, detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadTLS,
            "No TLS connection to \(host) could be made; check its certificate, or trust its CA (CA file).",
            detail: detail)
    }

    static func notHTTP(_ host: String, detail: String) -> AttachPrepError {
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
        let delayMax = backOff * (1 << min(tries - 1, 16))
        let delay = max(delayMax * chance, retryAfter ?? .zero)
        return delay < timeLeft ? delay : nil
    }
}

extension Limits {
    /// Attempts of one transfer, including the first.
    package static let downloadAttemptsMax = 4
}
