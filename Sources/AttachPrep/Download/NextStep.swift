internal import Curl
internal import RichPush

/// What comes after one exchange.
enum NextStep: Sendable, Hashable {
    /// The file is whole.
    case finish
    case follow(location: String)
    /// Nothing is fetched: what was fetched before is still it.
    case keep
    /// Wait and try again; the error is thrown when there is no further try.
    case retry(AttachPrepError)
    /// Try again at once, without a range and without a condition.
    case startOver(AttachPrepError)
    /// Try again at once, taking the bytes as they come.
    case startOverUndecoded(AttachPrepError)
    case fail(AttachPrepError)

    /// Decides by what is known, the strongest fact first: our own refusal, the time and the caller, the answer's head,
    /// and only then how the transport ended.
    init(after ending: TransferEnding, _ outcome: Exchange.Outcome, _ facts: TransferFailure.Facts) {
        if let refusal = outcome.refusal {
            self = .fail(refusal)
        } else if ending == .deadlineReached || ending == .cancelled {
            self = Self.step(ending, facts)
        } else if let verdict = outcome.verdict, !verdict.hasContent {
            self = Self.step(verdict, facts.host)
        } else if outcome.isUndecodable {
            self = .startOverUndecoded(.undecodable(facts.host))
        } else if ending == .completed, outcome.isHalfUnpacked {
            self = .retry(.truncated(facts.host, bytes: facts.bytes, total: nil))
        } else if ending == .completed, outcome.verdict == nil {
            // libcurl is content with a head that the end of the connection cuts off.
            self = .retry(.hungUp(facts.host, "completed without a whole head"))
        } else {
            self = Self.step(ending, facts)
        }
    }

    private static func step(_ verdict: ResponseVerdict, _ host: String) -> NextStep {
        switch verdict {
        case .redirect(let location): .follow(location: location)
        case .unusableRange, .unusableCondition: .startOver(.changed(host))
        case .unchanged: .keep
        case .busy(let status): .retry(.status(host, status, isRetryable: true))
        case .gone(let status): .fail(.gone(host, status))
        case .refused(let status): .fail(.status(host, status, isRetryable: false))
        case .contradictory(let field): .fail(.contradictory(host, field))
        case .whole, .continuation: .finish
        }
    }

    private static func step(_ ending: TransferEnding, _ facts: TransferFailure.Facts) -> NextStep {
        guard let failure = TransferFailure(ending, facts) else {
            // A server may end a range early without breaking any rule.
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
    fileprivate static func gone(_ host: String, _ status: Int) -> AttachPrepError {
        AttachPrepError(.sourceNotFound, "\(host) has no such file (status \(status)); check the address.")
    }

    fileprivate static func status(_ host: String, _ status: Int, isRetryable: Bool) -> AttachPrepError {
        let remedy = isRetryable ? "try again later" : "check the address and the access it needs"
        return AttachPrepError(
            .downloadHTTPStatus, "\(host) answered with status \(status) instead of the file; \(remedy).",
            isRetryable: isRetryable)
    }

    fileprivate static func changed(_ host: String) -> AttachPrepError {
        AttachPrepError(.downloadTruncated, "The file on \(host) changed while it was being fetched; try again.")
    }
}
