import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Whether work on a claimed job begins at all: pure.
enum BeginningDecision: Sendable, Hashable {
    case begin
    /// Its time is over.
    case fail(AttachPrepError)
    /// It is taken for what ended the workers that had it.
    case die(AttachPrepError)

    init(losses: Int, crashes: Int = 0, notAfter: Date?, now: Date) {
        switch CrashPolicy.verdict(crashes: crashes, losses: losses) {
        case .crashed: self = .die(.crashedService(crashes))
        case .lost: self = .die(.lostTooOften(losses))
        case .runs, .runsAlone: self = Self.inTime(notAfter, now: now)
        }
    }

    private static func inTime(_ notAfter: Date?, now: Date) -> BeginningDecision {
        if let notAfter, notAfter <= now {
            return .fail(.begunTooLate(notAfter))
        }
        return .begin
    }
}

extension AttachPrepError {
    fileprivate static func lostTooOften(_ losses: Int) -> AttachPrepError {
        AttachPrepError(
            .internal,
            "\(losses) workers ended while they had this job, more than \(Limits.jobLossesMax); "
                + "look at it, then retry it.", isRetryable: false)
    }

    fileprivate static func begunTooLate(_ date: Date) -> AttachPrepError {
        AttachPrepError(
            .deadlineNotAfter,
            "The job's notAfter, \(Timestamp.text(date)), passed before work on it began; send it with a later one.")
    }

    /// - Parameter date: the job's notAfter.
    static func cutShort(_ date: Date) -> AttachPrepError {
        AttachPrepError(
            .deadlineNotAfter,
            "The job's notAfter, \(Timestamp.text(date)), passed during the work on it; send it with a later one.")
    }
}
