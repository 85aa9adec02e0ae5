internal import Curl
internal import RichPush

/// What a transfer that did not complete means for the caller, and whether another try may help.
struct TransferFailure: Sendable, Hashable {
    /// What the next try should do.
    enum Remedy: Sendable, Hashable {
        case none
        /// Try again later, going on where this one broke if the server can.
        case retry
    }

    let error: AttachPrepError
    let remedy: Remedy
}

extension TransferFailure {
    /// What is known about a broken transfer.
    struct Facts: Sendable, Hashable {
        var host: String
        var limits: DownloadTimeouts
        /// Whether the answer's head had come whole: what breaks then is a file.
        var hasHead: Bool
        /// Bytes in the file, and the whole if it is known.
        var bytes: Int
        var total: Int?
        /// What a proxy said to the wish for a tunnel.
        var proxyStatus: Int?
    }

    /// - Returns: nil when the transfer completed.
    init?(_ ending: TransferEnding, _ facts: Facts) {
        let host = facts.host
        switch ending {
        case .completed: return nil
        case .connectTimedOut: self = .timeout("\(host) did not accept a connection within", facts.limits.connect)
        case .firstByteTimedOut: self = .timeout("\(host) did not answer within", facts.limits.firstByte)
        case .stalled: self = .timeout("\(host) sent next to nothing for", facts.limits.stall)
        case .deadlineReached: self.init(error: .deadlineExceeded(host), remedy: .none)
        case .cancelled: self.init(error: .cancelled(host), remedy: .none)
        case .transferCodingRefused: self.init(error: .refusedTransferCoding(host), remedy: .none)
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
            self.init(error: .refusedByProxy(host, status, detail), remedy: .none)
            return
        }
        if error.isTLSFailure, !facts.hasHead {
            self.init(error: .tls(host, detail), remedy: .none)
            return
        }
        switch code {
        case .timedOut: self = .timeout("\(host) did not accept a connection within", facts.limits.connect)
        case .couldNotConnect: self.init(error: .notConnected(host, detail), remedy: .retry)
        case .couldNotResolveHost, .couldNotResolveProxy, .proxyHandshake:
            self.init(error: .notConnected(host, detail), remedy: .none)
        case .gotNothing, .sendError, .receiveError, .http2, .http2Stream, .partialFile:
            let truncated = AttachPrepError.truncated(host, bytes: facts.bytes, total: facts.total, detail: detail)
            self.init(error: facts.hasHead ? truncated : .hungUp(host, detail), remedy: .retry)
        case .weirdServerReply, .unsupportedProtocol, .badFunctionArgument:
            self.init(error: .notHTTP(host, detail), remedy: .none)
        case .badContentEncoding: self.init(error: .refusedTransferCoding(host), remedy: .none)
        case .outOfMemory where !facts.hasHead, .tooLarge: self.init(error: .headersTooLarge(host), remedy: .none)
        case _ where code.isTLS: self.init(error: .tls(host, detail), remedy: .none)
        default: self.init(error: .internalFailure(detail), remedy: .none)
        }
    }

    private static func timeout(_ words: String, _ limit: Duration) -> TransferFailure {
        let sentence = "\(words) \(limit.inSeconds); try again later or check the server."
        return TransferFailure(error: AttachPrepError(.downloadTimeout, sentence), remedy: .retry)
    }
}

extension AttachPrepError {
    fileprivate static func refusedByProxy(_ host: String, _ status: Int, _ detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadConnect, "The proxy refused a connection to \(host) (status \(status)); check its rules.",
            detail: detail, isRetryable: status >= 500)
    }

    fileprivate static func notConnected(_ host: String, _ detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadConnect, "No connection to \(host) could be made; check the address and the server.",
            detail: detail)
    }

    static func hungUp(_ host: String, _ detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadConnect, "\(host) closed the connection without an answer; try again or check the server.",
            detail: detail)
    }

    fileprivate static func tls(_ host: String, _ detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadTLS,
            "No secure connection to \(host) could be made; check its certificate, or trust its authority's (CA file).",
            detail: detail)
    }

    static func notHTTP(_ host: String, _ detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadHTTPStatus, "\(host) did not answer in HTTP; check the address and its port.", detail: detail,
            isRetryable: false)
    }

    static func internalFailure(_ detail: String) -> AttachPrepError {
        AttachPrepError(.internal, "The download failed inside attachprep; try again.", detail: detail)
    }
}
