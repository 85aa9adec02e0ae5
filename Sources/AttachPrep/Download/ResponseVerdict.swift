/// What an answer's head means for the download, before any of its body.
package enum ResponseVerdict: Sendable, Hashable {
    /// The whole body follows, of so many bytes if the server says so.
    case whole(total: Int?)
    /// The rest of what is there follows.
    case continuation(total: Int?)
    case redirect(location: String)
    /// The server answered a range with something that does not fit; the download begins anew, without a range.
    case unusableRange
    /// The file is still the one that was asked about.
    case unchanged
    /// "Not modified", but of another version than the one asked about; the download begins anew, without the question.
    case unusableCondition
    /// A failure that passes: 408, 425, 429 and the 5xx.
    case busy(status: Int)
    /// 404 and 410.
    case gone(status: Int)
    /// Every other status.
    case refused(status: Int)
    /// A field that can be read in two ways.
    case contradictory(field: String)

    /// - Parameter validators: what the server was asked about; nil when it was not.
    package init(
        _ head: ResponseHead, resuming point: ResumePoint?, asking validators: SourceValidators? = nil
    ) {
        if let field = head.contradictoryField {
            self = .contradictory(field: field)
            return
        }
        self =
            switch head.status {
            case 206: Self.partial(head, point)
            case 416 where point != nil: .unusableRange
            case 200...299: .whole(total: head.isEncoded ? nil : head.contentLength)
            case 304: Self.unmodified(head, validators)
            case 301, 302, 303, 307, 308: Self.redirect(head)
            case 408, 425, 429, 500...599: .busy(status: head.status)
            case 404, 410: .gone(status: head.status)
            default: .refused(status: head.status)
            }
    }

    /// Whether the body belongs into the file.
    package var hasContent: Bool {
        switch self {
        case .whole, .continuation: true
        default: false
        }
    }

    private static func partial(_ head: ResponseHead, _ point: ResumePoint?) -> ResponseVerdict {
        if let point {
            let total = head.contentRange?.total ?? point.total
            return point.isContinued(by: head) ? .continuation(total: total) : .unusableRange
        }
        // Some servers answer 206 to everybody; it is good when it is the whole.
        guard let range = head.contentRange, range.first == 0, let total = range.total, range.end == total,
            head.isWholeRange
        else {
            return .refused(status: head.status)
        }
        return .whole(total: head.isEncoded ? nil : total)
    }

    /// Nobody is told "not modified" who did not ask.
    private static func unmodified(_ head: ResponseHead, _ validators: SourceValidators?) -> ResponseVerdict {
        guard let validators else { return .refused(status: head.status) }
        return validators.contradicts(head) ? .unusableCondition : .unchanged
    }

    private static func redirect(_ head: ResponseHead) -> ResponseVerdict {
        guard let location = head["location"], !location.isEmpty else { return .refused(status: head.status) }
        return .redirect(location: location)
    }
}
