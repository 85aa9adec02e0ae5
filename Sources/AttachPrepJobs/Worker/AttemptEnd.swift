import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What came of one attempt of a job.
enum AttemptEnd: Sendable {
    /// There is an attachment.
    case prepared(Manifest, MediaID)
    /// There is none, and the manifest says why; since when that is known.
    case rejected(Manifest, failedAt: Date)
    /// Work did not begin.
    case refused(JobEnding)
    /// Work was given up; nothing is known.
    case interrupted
}
