internal import FoundationEssentials
package import RichPush

/// How a download waits for a source that its server does not have yet, or that is still being written: the snapshot or
/// clip of a camera whose event was already sent. Pure.
package struct SourceWait: Sendable, Hashable {
    /// When waiting ends; then the error is thrown, or the file is used as it is.
    package let end: ContinuousClock.Instant

    package init(until end: ContinuousClock.Instant) {
        self.end = end
    }

    /// Whether a response means "not yet": 404, or a temporary failure. 410 means "never again".
    package static func isExpected(_ verdict: ResponseVerdict?) -> Bool {
        switch verdict {
        case .gone(404), .busy: true
        default: false
        }
    }

    /// The time until the source is requested again; nil when no time is left.
    ///
    /// It doubles from 0.1 s to `waitIntervalSecondsMax` and has jitter, so that a thousand requests for one event do
    /// not arrive together. A server's `Retry-After` is a lower bound.
    /// - Parameters:
    ///   - polls: Earlier requests that found no source.
    ///   - chance: A random number in 0..<1.
    package func delay(
        afterPolls polls: Int, chance: Double, retryAfter: Duration?, now: ContinuousClock.Instant
    ) -> Duration? {
        // Bounded: floating point, and the exponent is at most 3.
        let ceiling = min(0.1 * Double(1 << min(polls, 3)), Limits.waitIntervalSecondsMax)
        // Bounded: floating point; `EasyHandle.report` clamps `Retry-After`.
        let delay = max(.seconds(ceiling * (0.5 + 0.5 * chance)), retryAfter ?? .zero)
        return delay < now.duration(to: end) ? delay : nil
    }

    /// The time until a complete file is compared with the server's version again, to detect whether it still grows;
    /// nil when it has settled, or when the server gives no validator by which that could be seen.
    ///
    /// A file that changed within `settledSeconds` before the response may still grow.
    /// - Parameter head: The head of the response with the file.
    package func checkDelay(after head: ResponseHead, now: ContinuousClock.Instant) -> Duration? {
        let changed = head["last-modified"].flatMap(HTTPDate.date)
        // Bounded: floating point.
        let age = changed.flatMap { date in head.date.map { $0 - date.timeIntervalSince1970 } }
        guard head["etag"] != nil || age != nil, age ?? 0 < Limits.settledSeconds else { return nil }
        // A date has whole seconds: a file can change without a new one until the second is over.
        let delay: Duration = head["etag"] == nil ? .seconds(1) : .milliseconds(500)
        return delay < now.duration(to: end) ? delay : nil
    }
}

extension Limits {
    /// Seconds between two requests for a source that does not exist yet: it is seen within a second of its first byte.
    package static let waitIntervalSecondsMax = 0.8
    /// A source that has not changed for this many seconds is complete.
    package static let settledSeconds = 5.0
}
