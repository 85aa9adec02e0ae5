import AttachPrep
import RichPush
import SafeArithmetic

/// What becomes of a job whose process ended under it: pure.
///
/// A crash (a signal for a fault of the process's own) is proven by the mark that it leaves (`RunRecord`). It says that
/// one of the jobs in flight is to blame, but not which. So each of them comes back alone: the innocent ones end, and
/// the one that crashes the process again is the culprit. An end without a mark (SIGKILL, out of memory, loss of power)
/// is mostly the operator's or the machine's doing, and is counted apart.
enum CrashPolicy {
    /// Crashes of a process that has the job, after which it is dead: it comes back twice.
    static let crashesMax = 3
    /// Ends without a mark from which on a job runs alone: a process that runs out of memory leaves no mark either.
    static let lossesAloneMin = 5
    /// Wait after a first crash; four times as long for each further one. Other jobs go first meanwhile.
    static let backOffSeconds = 1.0

    enum Verdict: Sendable, Hashable {
        case runs
        /// Nothing else runs in the process meanwhile.
        case runsAlone
        /// It crashed the process too often.
        case crashed
        /// It lost its process too often, for whatever reason.
        case lost
    }

    static func verdict(crashes: Int, losses: Int) -> Verdict {
        if crashes >= crashesMax { return .crashed }
        if losses > Limits.jobLossesMax { return .lost }
        return crashes > 0 || losses >= lossesAloneMin ? .runsAlone : .runs
    }

    /// How long a job waits after that many crashes; one that is dead after them is told so at once.
    static func backOffMilliseconds(crashes: Int) -> Int64 {
        guard crashes < crashesMax else { return 0 }
        // Bounded: fewer steps of four than there may be crashes.
        let factor = 1 << (2 * (max(crashes, 1) - 1))
        return Int64(clamping: backOffSeconds * Double(factor) * 1000)
    }
}

/// Whose turn it is in a process that has jobs which must run alone: pure.
enum IsolationDecision: Sendable, Hashable {
    /// Ordinary work.
    case ordinary
    /// Ordinary work has its turn; when there is none, one that runs alone.
    case ordinaryFirst
    /// One that runs alone.
    case alone
    /// Nothing until what is in flight has ended.
    case wait

    /// - Parameters:
    ///   - hasAlone: whether something that runs alone is in flight.
    ///   - inFlight: whether anything is.
    ///   - isAloneDue: whether something that runs alone is due.
    ///   - wasAlone: whether the last one that was given ran alone: it has the lower priority, so others go in between.
    init(hasAlone: Bool, inFlight: Bool, isAloneDue: Bool, wasAlone: Bool) {
        if hasAlone {
            self = .wait
        } else if !isAloneDue {
            self = .ordinary
        } else if inFlight {
            self = .wait
        } else {
            self = wasAlone ? .ordinaryFirst : .alone
        }
    }
}

extension AttachPrepError {
    static func crashedService(_ crashes: Int) -> AttachPrepError {
        AttachPrepError(
            .jobCrashedService,
            "The process crashed \(crashes) times while it had this job, so it is not run again; "
                + "report it with its source, and retry it with a mended version.", isRetryable: false)
    }
}
