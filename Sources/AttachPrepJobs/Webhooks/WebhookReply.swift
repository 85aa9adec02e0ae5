internal import AttachPrep
internal import RichPush

/// What came back of a try.
enum WebhookReply: Sendable {
    case answered(host: String, status: Int, retryAfter: Duration?)
    case failed(AttachPrepError)

    var status: Int? {
        if case .answered(_, let status, _) = self { status } else { nil }
    }

    var retryAfter: Duration? {
        if case .answered(_, _, let retryAfter) = self { retryAfter } else { nil }
    }

    /// The receiver took it.
    var isDelivered: Bool { status.map { 200...299 ~= $0 } ?? false }

    /// The receiver wants no more of them (Standard Webhooks: 410 Gone).
    var isUnwanted: Bool { status == 410 }

    /// Why it was not taken: a sentence that names the host alone, for an address may hold secrets.
    var sentence: String {
        switch self {
        case .failed(let error): error.message
        case .answered(let host, 410, _): "\(host) answered 410: it wants no more webhooks."
        case .answered(let host, let status, _) where 300...399 ~= status:
            "\(host) answered \(status), a redirect, which is not followed; give the address itself."
        case .answered(let host, let status, _): "\(host) answered \(status)."
        }
    }
}
