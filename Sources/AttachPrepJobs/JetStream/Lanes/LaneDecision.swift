import RichPush
import SafeArithmetic

/// What becomes of a message of a lane: pure.
enum LaneDecision: Sendable, Hashable {
    /// The job can be claimed.
    case offer
    /// Its time has not come.
    case wait(WaitingDeliveries.Until, milliseconds: Int64)
    /// Its worker's lease has run out.
    case lost
    /// It is this machine's own already.
    case adopt
    /// Nobody knows yet what it stands for, or somebody has the job: ask again after that.
    case askAgain(milliseconds: Int64)
    /// It is over: there is nothing more to be done for it.
    case done

    /// A job's value may be heard of later than its message, by milliseconds; a message without one comes of somebody
    /// who ended between the two.
    private static let (unknownMilliseconds, unknownCountMax): (Int64, Int) = (100, 100)

    /// - Parameters:
    ///   - job: nil when there is none of that name.
    ///   - delivery: its message.
    ///   - isHeld: whether this machine's worker has the job.
    init(
        _ job: KnownJob?, _ delivery: LaneDelivery, isHeld: Bool, leaseMilliseconds: Int64, at moment: StoreMoment
    ) {
        guard let job else {
            self = delivery.count > Self.unknownCountMax ? .done : .askAgain(milliseconds: Self.unknownMilliseconds)
            return
        }
        switch job.value.state {
        case .succeeded, .failed, .dead, .cancelled: self = .done
        case .running where isHeld: self = .adopt
        case .running:
            // A message is given again when its lease has run out. One that comes much too early crossed another
            // one's claim on the way.
            let age = moment.steady.subtracting(clamping: job.heardAt)
            self =
                age < leaseMilliseconds / 2
                ? .askAgain(milliseconds: leaseMilliseconds.subtracting(clamping: age)) : .lost
        case .queued: self = delivery.hasWaited ? .offer : Self.queued(job.value, at: moment)
        }
    }

    /// Clocks may jump: who was not told to wait does not, no back-off is longer than the longest, and what a caller
    /// named is the wall's time.
    private static func queued(_ job: KeptJob, at moment: StoreMoment) -> LaneDecision {
        let left = job.dueAt.subtracting(clamping: moment.wall)
        guard left > 0 else { return .offer }
        switch JobWait(rawValue: job.wait) ?? JobWait.none {
        case .backOff:
            // Bounded: a product of our own limits and settings.
            let wait = min(left, Int64(Limits.jobBackOffSecondsMax * 1000))
            return .wait(.steady(moment.steady.adding(clamping: wait)), milliseconds: wait)
        case .notBefore: return .wait(.wall(job.dueAt), milliseconds: left)
        case .none: return .offer
        }
    }
}
