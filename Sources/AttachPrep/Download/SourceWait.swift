internal import FoundationEssentials
package import RichPush
internal import SafeArithmetic
internal import Synchronization

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

    /// Jitter keeps the requests of many workers for one event apart.
    private static let schedule: RetrySchedule = {
        var schedule = RetrySchedule(backOff: .seconds(Limits.waitIntervalSecondsFirst))
        schedule.attemptsMax = .max
        schedule.backOffMax = .seconds(Limits.waitIntervalSecondsMax)
        return schedule
    }()

    /// The time until the source is requested again; nil when no time is left.
    ///
    /// - Parameters:
    ///   - requests: Requests so far that found no source.
    ///   - chance: A random number in 0..<1.
    package func delay(
        afterRequests requests: Int, chance: Double, retryAfter: Duration?, now: ContinuousClock.Instant
    ) -> Duration? {
        Self.schedule.delay(
            afterTries: requests, chance: chance, retryAfter: retryAfter, timeLeft: now.duration(to: end))
    }

    /// The time until a complete file is compared with the server's version again, to detect whether it still grows;
    /// nil when it has settled, or when the server gives no validator by which that could be seen.
    ///
    /// A file that changed within `settledSeconds` before the response may still grow.
    /// - Parameter head: The head of the response with the file.
    package func checkDelay(after head: ResponseHead, now: ContinuousClock.Instant) -> Duration? {
        let changed = head["last-modified"].flatMap(HTTPDate.date)
        let age = changed.flatMap { date in head.date.map { $0 - date.timeIntervalSince1970 } }
        guard head["etag"] != nil || age != nil, age ?? 0 < Limits.settledSeconds else { return nil }
        // A date has whole seconds: a file can change without a new one until the second is over.
        let delay: Duration = head["etag"] == nil ? .seconds(1) : .milliseconds(500)
        return delay < now.duration(to: end) ? delay : nil
    }
}

/// Reports when the wait for a source begins and ends, each once.
final class WaitSignal: Sendable {
    private let isWaiting = Mutex(false)
    private let changed: (@Sendable (Bool) -> Void)?

    init(_ changed: (@Sendable (Bool) -> Void)?) {
        self.changed = changed
    }

    func set(_ waits: Bool) {
        let isNew = isWaiting.withLock { isWaiting in
            defer { isWaiting = waits }
            return isWaiting != waits
        }
        if isNew { changed?(waits) }
    }
}

extension Limits {
    /// The longest pause before the second request for a source that does not exist yet; doubled for each further one.
    static let waitIntervalSecondsFirst = 0.1
    /// The longest pause between two of them: the source is seen within a second of its first byte.
    package static let waitIntervalSecondsMax = 0.8
    /// Sources that one process waits for beside those that it works on. Each holds two descriptors, of the 1,024 that
    /// a process has by default, and some 30 KB.
    package static let sourcesWaitingMax = 256
    /// A source that has not changed for this many seconds is complete.
    package static let settledSeconds = 5.0
}
