internal import RichPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// When a webhook that was not taken is tried again: pure.
struct WebhookSchedule: Sendable, Hashable {
    /// Seconds before each try, after the one before; the first try's own is not waited here.
    var stepsSeconds = Limits.webhookScheduleSeconds

    /// Steps are made longer by up to this part, so that what failed together does not come together again.
    private static let jitter = 0.1

    /// What becomes of a webhook.
    ///
    /// - Parameters:
    ///   - tries: with this one.
    ///   - chance: a random number in 0..<1.
    func outcome(of reply: WebhookReply, tries: Int, at now: Date, chance: Double) -> WebhookOutcome {
        if reply.isDelivered, let status = reply.status { return .delivered(status: status) }
        guard !reply.isUnwanted, let delay = delay(afterTries: tries, retryAfter: reply.retryAfter, chance: chance)
        else { return .givenUp(status: reply.status, error: reply.sentence) }
        return .retry(at: now.addingTimeInterval(delay), status: reply.status, error: reply.sentence)
    }

    /// Seconds until the next try; nil when there is none.
    ///
    /// A receiver may ask for more time than the schedule gives, up to the length of the step after it.
    func delay(afterTries tries: Int, retryAfter: Duration?, chance: Double) -> Double? {
        guard stepsSeconds.indices.contains(tries) else { return nil }
        let own = stepsSeconds[tries] * (1 + Self.jitter * chance)  // Bounded: floating-point numbers.
        let longest = stepsSeconds[min(tries + 1, stepsSeconds.count - 1)]  // Bounded: an index of the schedule.
        let wished = retryAfter.map { $0 / .seconds(1) } ?? 0
        return max(own, min(wished, longest))
    }
}
