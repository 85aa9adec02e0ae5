import AttachPrep
import RichPush
import SafeArithmetic

/// A webhook as the servers keep it: in the value of the job whose end it tells of, so that the two are kept as one.
struct KeptNotice: Codable, Sendable, Hashable {
    /// The webhook's name (`WebhookID`).
    var id: String
    var url: String
    var event: WebhookNotice.Event
    var body: String
    var state = WebhookState.pending
    var attempts = 0
    var createdAt: Int64
    /// When it is tried next; nil when it is not.
    var nextAt: Int64?
    var endedAt: Int64?
    var lastStatus: Int?
    var lastError: String?
    /// Whose try is under way; nil for nobody's.
    var sender: Int64?
    /// Whether the secrets of its address were wiped; nil for no.
    var isWiped: Bool?

    init(_ notice: WebhookNotice, at now: Int64) {
        id = WebhookID.make(at: .init(milliseconds: now)).text
        url = notice.url
        event = notice.event
        body = notice.body
        createdAt = now
        nextAt = now
    }

    var host: String { WebhookNotice(url: url, event: event, body: "").host }
}

extension KeptJob {
    /// A job that is tried again and again by hand keeps its last notices.
    mutating func add(_ notice: KeptNotice?) {
        guard let notice else { return }
        notices = ((notices ?? []) + [notice]).suffix(Limits.webhooksPerJobMax)
    }

    /// The job with its notices changed; nil when none of them could be.
    ///
    /// - Parameter change: nil leaves a notice as it is.
    func telling(_ change: (KeptNotice) -> KeptNotice?) -> KeptJob? {
        var hasChanged = false
        let changed = (notices ?? []).map { notice in
            guard let next = change(notice) else { return notice }
            hasChanged = true
            return next
        }
        guard hasChanged else { return nil }
        var job = self
        job.notices = changed
        return job
    }
}

/// What may happen to a notice: pure. Nil when it cannot happen to it now.
extension KeptNotice {
    /// - Parameter former: whose try the one that takes it has seen, and seen long enough.
    func taken(by sender: Int64, from former: Int64?) -> KeptNotice? {
        guard state == .pending, self.sender == former else { return nil }
        var notice = self
        notice.sender = sender
        return notice
    }

    func tried(_ outcome: WebhookOutcome, at now: Int64) -> KeptNotice? {
        // One that ended meanwhile stays as it is: its receiver does not want it, or has it.
        guard state == .pending else { return nil }
        var notice = self
        notice.attempts = attempts.adding(clamping: 1)
        notice.sender = nil
        switch outcome {
        case .delivered(let status):
            notice.end(.delivered, status, nil, at: now)
            notice.wipe()
        case .givenUp(let status, let error): notice.end(.givenUp, status, error, at: now)
        case .retry(let date, let status, let error):
            (notice.nextAt, notice.lastStatus, notice.lastError) = (date.milliseconds, status, error)
        }
        return notice
    }

    func givenUp(to url: String, _ error: String, at now: Int64) -> KeptNotice? {
        guard state == .pending, self.url == url else { return nil }
        var notice = self
        notice.sender = nil
        notice.end(.givenUp, lastStatus, error, at: now)
        return notice
    }

    /// - Parameter callback: the address, when the job still has its secrets.
    /// - Returns: nil when nobody knows the address any more.
    func replayed(at now: Int64, callback: String?) -> KeptNotice? {
        var notice = self
        if isWiped == true {
            guard let callback else { return nil }
            (notice.url, notice.isWiped) = (callback, nil)
        }
        notice.state = .pending
        notice.attempts = 0
        notice.nextAt = now
        (notice.endedAt, notice.sender) = (nil, nil)
        return notice
    }

    private mutating func wipe() {
        let shown = RedactedURL.redact(url)
        guard shown != url else { return }
        (url, isWiped) = (shown, true)
    }

    private mutating func end(_ state: WebhookState, _ status: Int?, _ error: String?, at now: Int64) {
        self.state = state
        (nextAt, endedAt) = (nil, now)
        (lastStatus, lastError) = (status, error)
    }
}
