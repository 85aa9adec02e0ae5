internal import RichPush

/// When a failed transfer is tried again.
package struct RetrySchedule: Sendable, Hashable {
    /// The longest wait before the second try.
    package var backOff: Duration
    package var attemptsMax = Limits.downloadAttemptsMax

    package init(backOff: Duration) {
        self.backOff = backOff
    }

    /// How long to wait after a number of tries; nil when there is no further try or no time for it.
    ///
    /// Exponential with full jitter; a server's `Retry-After` is a lower bound.
    /// - Parameters:
    ///   - chance: a random number in 0..<1.
    ///   - timeLeft: until the deadline.
    package func delay(afterTries tries: Int, chance: Double, retryAfter: Duration?, timeLeft: Duration) -> Duration? {
        guard tries < attemptsMax else { return nil }
        // Bounded: `attemptsMax` is ours and small, and the back-off is a fraction of a second.
        let ceiling = backOff * (1 << (tries - 1))
        // Bounded: at most the ceiling, and what `EasyHandle.report` clamps.
        let delay = max(ceiling * chance, retryAfter ?? .zero)
        return delay < timeLeft ? delay : nil
    }
}
