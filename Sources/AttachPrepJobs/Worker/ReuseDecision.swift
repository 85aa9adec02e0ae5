import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Whether what was fetched before is what a job asks for: pure.
enum ReuseDecision: Hashable, Sendable {
    /// Nothing is there that could be used.
    case fetch
    /// The stored result is the job's own.
    case use(Kind)
    /// The source's server is asked whether the stored result still stands.
    case ask(SourceValidators)

    /// Why a stored result is a job's own.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It was fetched when the job was due already: one download for many jobs.
        case shared
        /// It was fetched before, and still holds.
        case fresh
        /// It was fetched before, and its server says that it still holds.
        case unchanged
    }

    /// A clock that is put back by less changes nothing that anybody would notice.
    private static let clockSecondsSlack = 1.0

    /// - Parameters:
    ///   - dueAt: what was fetched later than that is what the job asked for, a failure too.
    ///   - isUpload: content that has been sent does not change.
    ///   - createdAt: when the job was sent; one that is retried was sent long before it is due.
    init(_ stored: StoredResult?, dueAt: Date, createdAt: Date = .distantPast, isUpload: Bool, now: Date) {
        // What was fetched in the future was fetched before a clock was put back, nobody knows how long ago.
        guard let stored, stored.fetchedAt <= now.addingTimeInterval(Self.clockSecondsSlack) else {
            self = .fetch
            return
        }
        if stored.fetchedAt >= dueAt || stored.isCrash(for: createdAt, now: now) {
            self = .use(.shared)
        } else if !stored.isLasting {
            self = .fetch
        } else if isUpload || stored.freshness?.freshUntil.map({ now < $0 }) ?? false {
            self = .use(.fresh)
        } else if let validators = stored.freshness?.validators {
            self = .ask(validators)
        } else {
            self = .fetch
        }
    }
}

extension StoredResult {
    /// What crashed the process three times is not tried again for so long, but by whoever retries an earlier job.
    private static let crashSeconds = 3_600.0

    fileprivate func isCrash(for createdAt: Date, now: Date) -> Bool {
        manifest.error?.code == .jobCrashedService && createdAt > fetchedAt
            && now < fetchedAt.addingTimeInterval(Self.crashSeconds)
    }

    /// Whether later jobs may have it: a failure may be over by then, and what a deadline forced may get better.
    fileprivate var isLasting: Bool { manifest.error == nil && manifest.outcome != .bestAttempt }
}
