internal import RichPush

/// Which of the webhooks in hand may go now: so many at a time, and so many of them to one host.
struct WebhookLanes: Sendable {
    private struct Waiting: Sendable {
        let webhook: Webhook
        let host: String
        /// When its lease is too short for a try.
        let end: ContinuousClock.Instant
    }

    private let inFlightMax: Int
    private let perHostMax: Int
    private var inFlight: [String: Int] = [:]
    private var waiting: [Waiting] = []

    /// What waits for a place at its host; more is left to its lease, and comes again when that is over.
    private static let waitingMax = 256

    init(inFlightMax: Int = Limits.webhooksInFlightMax, perHostMax: Int = Limits.webhooksPerHostMax) {
        self.inFlightMax = inFlightMax
        self.perHostMax = perHostMax
    }

    /// How many more may be on their way.
    var free: Int { inFlightMax - inFlight.values.reduce(0, +) }  // Bounded: counts of what is in memory.

    /// Takes in what was claimed.
    ///
    /// - Parameter end: until when a try may begin.
    mutating func add(_ webhooks: [Webhook], until end: ContinuousClock.Instant) {
        for webhook in webhooks.prefix(Self.waitingMax - waiting.count) {  // Bounded: counts of what is in memory.
            waiting.append(Waiting(webhook: webhook, host: webhook.notice.host, end: end))
        }
    }

    /// The next one that may go, which takes a place at its host; nil when there is none.
    mutating func next(at now: ContinuousClock.Instant = .now) -> (webhook: Webhook, host: String)? {
        waiting.removeAll { $0.end <= now }
        guard free > 0, let index = waiting.firstIndex(where: { inFlight[$0.host, default: 0] < perHostMax }) else {
            return nil
        }
        let next = waiting.remove(at: index)
        inFlight[next.host, default: 0] += 1
        return (next.webhook, next.host)
    }

    /// Gives a place back.
    mutating func finish(_ host: String) {
        guard let count = inFlight[host] else { return }
        inFlight[host] = count > 1 ? count - 1 : nil  // Bounded: counts of what is in memory.
    }

    /// Lets go of all that waits: for a sender that leaves.
    mutating func clear() {
        waiting = []
    }
}
