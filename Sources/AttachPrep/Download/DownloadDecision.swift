internal import AttachPrepModel
internal import Curl
internal import RichPush

/// What a download does after one request and its response.
enum DownloadDecision: Sendable, Hashable {
    /// The file is complete.
    case finish
    case follow(location: String)
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
            self = Self.step(ending, facts)
        } else if let verdict = received.verdict, !verdict.hasContent {
            self = Self.step(verdict, facts.host)
        } else if received.isUndecodable {
            self = .startOverUndecoded(.undecodable(facts.host))
        } else if ending == .completed, received.isCompressedStreamTruncated {
            self = .retry(.truncated(facts.host, bytes: facts.bytes, total: nil))
        } else if ending == .completed, received.verdict == nil {
            // libcurl reports success when the connection ends within the head.
            self = .retry(.connectionClosed(facts.host, "completed without a whole head"))
        } else {
            self = Self.step(ending, facts)
        }
    }

    private static func step(_ verdict: ResponseVerdict, _ host: String) -> DownloadDecision {
        switch verdict {
        case .redirect(let location): .follow(location: location)
        case .unusableRange, .unusableCondition: .startOver(.sourceChanged(host))
        case .unchanged: .unchanged
        case .busy(let status): .retry(.unexpectedStatus(host, status, isRetryable: true))
        case .gone(let status): .fail(.notFound(host, status))
        case .rejected(let status): .fail(.unexpectedStatus(host, status, isRetryable: false))
        case .ambiguous(let field): .fail(.ambiguousHeader(host, field))
        case .whole, .continuation: .finish
        }
    }

    private static func step(_ ending: TransferEnding, _ facts: TransferError.Facts) -> DownloadDecision {
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

extension AttachPrepError {
    fileprivate static func notFound(_ host: String, _ status: Int) -> AttachPrepError {
        AttachPrepError(.sourceNotFound, "\(host) has no such file (status \(status)); check the URL.")
    }

    fileprivate static func unexpectedStatus(_ host: String, _ status: Int, isRetryable: Bool) -> AttachPrepError {
        let remedy = isRetryable ? "try again later" : "check the URL and the access it needs"
        return AttachPrepError(
            .downloadHTTPStatus, "\(host) answered with status \(status) instead of the file; \(remedy).",
            isRetryable: isRetryable)
    }

    fileprivate static func sourceChanged(_ host: String) -> AttachPrepError {
        AttachPrepError(.downloadTruncated, "The file on \(host) changed while it was being fetched; try again.")
    }
}

/// What a response head means for the download, before any body byte.
package enum ResponseVerdict: Sendable, Hashable {
    /// The whole body follows; `total` is its declared size in bytes.
    case whole(total: Int?)
    /// The rest of a partial file follows; `total` is the size of the whole in bytes.
    case continuation(total: Int?)
    case redirect(location: String)
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
    ///   - range: The requested part of the file; nil for the whole.
    ///   - validators: The validators of a conditional request; nil for another request.
    package init(
        _ head: ResponseHead, resuming point: ResumePoint?, range: ResourceRange? = nil,
        asking validators: SourceValidators? = nil
    ) {
        if let field = head.ambiguousField {
            self = .ambiguous(field: field)
            return
        }
        self =
            switch head.status {
            case 206: Self.partial(head, point, range)
            case 416 where point != nil: .unusableRange
            case 200...299: .whole(total: head.isEncoded ? nil : head.contentLength)
            case 304: Self.unmodified(head, validators)
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

    private static func partial(_ head: ResponseHead, _ point: ResumePoint?, _ wanted: ResourceRange?)
        -> ResponseVerdict
    {
        if let point {
            let total = head.contentRange?.total ?? point.total
            return point.isContinued(by: head) ? .continuation(total: total) : .unusableRange
        }
        if let wanted {
            guard let range = head.contentRange, range.first == wanted.offset, range.end == wanted.end,
                head.isWholeRange, !head.isEncoded
            else { return .rejected(status: head.status) }
            return .whole(total: wanted.length)
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
    private static func unmodified(_ head: ResponseHead, _ validators: SourceValidators?) -> ResponseVerdict {
        guard let validators else { return .rejected(status: head.status) }
        return validators.contradicts(head) ? .unusableCondition : .unchanged
    }

    private static func redirect(_ head: ResponseHead) -> ResponseVerdict {
        guard let location = head["location"], !location.isEmpty else { return .rejected(status: head.status) }
        return .redirect(location: location)
    }
}
