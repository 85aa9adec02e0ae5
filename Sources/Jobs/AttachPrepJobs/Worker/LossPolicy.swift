import AttachPrepModel
import MediaTypes
import SafeArithmetic
import Synchronization

/// Decides what happens to a job whose worker was lost: killed, crashed or frozen while it had the job.
///
/// Nothing shows which of the jobs in flight was the cause, if any. So all of them are retried, each after a random
/// delay that grows with its losses: the job that ends its worker meets the others less and less often, and only that
/// job reaches the limit.
package enum LossPolicy {
    /// Whether a job is given up.
    package static func isDead(losses: Int) -> Bool { losses >= Limits.jobLossesMax }

    /// Returns the delay after a loss; 0 for a job that is dead, which is reported at once.
    ///
    /// - Parameters:
    ///   - losses: number of losses, including this one.
    ///   - chance: a number in 0..<1; the delay is between half and one and a half times the one of `losses`.
    package static func delayMilliseconds(losses: Int, chance: Double = .random(in: 0..<1)) -> Int64 {
        guard !isDead(losses: losses) else { return 0 }
        let index = min(max(losses, 1), Limits.lossDelaySeconds.count).subtracting(clamping: 1)
        return Int64(clamping: (Limits.lossDelaySeconds[index] * (0.5 + chance) * 1000).rounded())
    }
}

/// When a store was last unreachable for renewals: a lease that expired because of that is not a loss.
package final class FailedRenewals: Sendable {
    private let end = Mutex(Int64.min)

    package init() {}

    /// Leases that expire by this time, in milliseconds of the steady clock, may have expired because a renewal failed.
    package var excusedUntil: Int64 { end.withLock { $0 } }

    /// Records a failed renewal of leases of a duration.
    package func record(at steady: Int64, lease: Int64) {
        end.withLock { $0 = max($0, steady.adding(clamping: lease)) }
    }
}

extension AttachPrepError {
    static func lostTooOften(_ losses: Int) -> AttachPrepError {
        AttachPrepError(
            .jobWorkerLost,
            "\(losses) workers were lost while running this job (limit \(Limits.jobLossesMax)), so it does not run "
                + "again; look for crashes in the log and check the machine's memory, then retry the job.",
            isRetryable: false)
    }
}

extension Limits {
    /// Losses of workers with a job until the job is dead. Restarts and kills for other reasons hit a job a few times
    /// at most, because decoding happens in separate processes and the delays grow.
    package static let jobLossesMax = 10
    /// Mean delay after the first loss, the second and so on; the last for all further ones. Each is spread by half of
    /// itself in both directions, so that jobs that were in flight together do not meet again.
    package static let lossDelaySeconds = [1.0, 4, 15, 60, 240]
}
