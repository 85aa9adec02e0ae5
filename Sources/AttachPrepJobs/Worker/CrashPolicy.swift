import AttachPrep
import AttachPrepModel
package import RichPush
import SafeArithmetic

/// Decides what happens to a job whose process ended while it had the job.
///
/// A crash (a signal caused by the process itself) is proven by the mark that it leaves (`RunRecord`). It shows that
/// one of the jobs in flight is the cause, but not which one. So each of them is run alone next: most succeed, and the
/// one that crashes the process again is the cause. An end without a mark (SIGKILL, out of memory, power loss) mostly
/// has an external cause and is counted separately.
package enum CrashPolicy {
    /// Number of crashes after which a job is dead: it is retried twice.
    package static let crashesMax = 3
    /// Number of ends without a mark from which a job runs alone: a process that runs out of memory leaves no mark.
    package static let lossesAloneMin = 5
    /// Delay after the first crash in seconds, multiplied by 4 for each further crash, so that other jobs run first.
    package static let backOffSeconds = 1.0

    package enum CrashDecision: Sendable, Hashable {
        case runs
        /// No other job runs in the process at the same time.
        case runsAlone
        /// The job crashed the process `crashesMax` times.
        case crashed
        /// The job lost its process more than `jobLossesMax` times, for any reason.
        case lost
    }

    package static func decision(crashes: Int, losses: Int) -> CrashDecision {
        if crashes >= crashesMax { return .crashed }
        if losses > Limits.jobLossesMax { return .lost }
        return crashes > 0 || losses >= lossesAloneMin ? .runsAlone : .runs
    }

    /// Returns the delay after a number of crashes; 0 for a job that is dead, which is reported at once.
    package static func backOffMilliseconds(crashes: Int) -> Int64 {
        guard crashes < crashesMax else { return 0 }
        // Bounded: the exponent is below 2 × `crashesMax`.
        let factor = 1 << (2 * (max(crashes, 1) - 1))
        return Int64(clamping: backOffSeconds * Double(factor) * 1000)
    }
}

extension AttachPrepError {
    static func crashedService(_ crashes: Int) -> AttachPrepError {
        AttachPrepError(
            .jobCrashedService,
            "The process crashed \(crashes) times while running this job, so it is not run again; "
                + "report the crash with the job's source, and retry the job after an update.", isRetryable: false)
    }
}

extension Limits {
    /// Losses of workers with a job until the job is dead. Restarts and kills for other reasons are far more
    /// frequent, and decoding happens in separate processes.
    package static let jobLossesMax = 20
    /// Back-off after the second loss, doubled for each further one; short, since most losses are not caused by the
    /// job.
    package static let lossBackOffSeconds = 0.5
    /// The longest back-off after a loss, a lease: a job that kills its workers is given up after five minutes.
    package static let lossBackOffSecondsMax = 15.0
}
