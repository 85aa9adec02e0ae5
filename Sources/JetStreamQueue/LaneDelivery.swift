import AttachPrep
import AttachPrepJobs
import NATS
import RichPush
import SQLiteQueue
import SafeArithmetic
import Synchronization

/// A delivered lane message: its receiver may claim the job that it names.
struct LaneDelivery: Sendable, Hashable {
    var job: JobID
    var lane: JobPriority
    /// The subject for acknowledgments.
    var reply: String
    /// The sequence number in the stream, which is the order of the jobs.
    var sequence: UInt64
    /// The number of deliveries, including this one.
    var count: Int
    /// Whether it comes from `DeferredDeliveries` and not from the servers.
    var isDeferred = false
    /// Whether its back-off has passed by the steady clock.
    var hasWaited = false
}

extension LaneDelivery {
    /// Nil for a message that names no job.
    init?(_ delivery: Delivery, lane: JobPriority) {
        guard let job = JobID(delivery.lastToken) else { return nil }
        self.init(
            job: job, lane: lane, reply: delivery.reply, sequence: delivery.sequence, count: delivery.count)
    }
}

/// Decides what to do with a lane message: pure.
enum LaneDecision: Sendable, Hashable {
    /// The job can be claimed.
    case claimable
    /// The job is not due yet.
    case wait(DeferredDeliveries.Until, milliseconds: Int64)
    /// The lease of the job's worker has expired.
    case lost
    /// The job is running on this machine.
    case redelivered
    /// The job is unknown or running elsewhere: deliver the message again after this time.
    case retryLater(milliseconds: Int64)
    /// The job has ended or does not exist.
    case done

    /// The retry interval and the maximum number of deliveries for an unknown job. Its value may arrive some
    /// milliseconds after its message; it never arrives if the enqueuing process ended between the two.
    private static let (unknownMilliseconds, unknownCountMax): (Int64, Int) = (100, 100)

    /// - Parameters:
    ///   - job: nil when it is unknown.
    ///   - delivery: its message.
    ///   - isHeld: whether this machine holds the job's lease.
    init(
        _ job: VersionedJob?, _ delivery: LaneDelivery, isHeld: Bool, leaseMilliseconds: Int64, at moment: StoreMoment
    ) {
        guard let job else {
            self = delivery.count > Self.unknownCountMax ? .done : .retryLater(milliseconds: Self.unknownMilliseconds)
            return
        }
        switch job.value.state {
        case .succeeded, .failed, .dead, .cancelled: self = .done
        case .running where isHeld: self = .redelivered
        case .running:
            // A message is delivered again when its lease has expired. One that comes much earlier was sent before the
            // claim of another machine arrived.
            let age = moment.steady.subtracting(clamping: job.receivedAt)
            self =
                age < leaseMilliseconds / 2
                ? .retryLater(milliseconds: leaseMilliseconds.subtracting(clamping: age)) : .lost
        case .queued: self = delivery.hasWaited ? .claimable : Self.queued(job.value, at: moment)
        }
    }

    /// Decides for a queued job, robust against clocks that differ: a job without a wait does not wait, a back-off is
    /// no longer than it was when it was set, and only `notBefore` uses the wall clock.
    private static func queued(_ job: StoredJob, at moment: StoreMoment) -> LaneDecision {
        let left = job.dueAt.subtracting(clamping: moment.wall)
        guard left > 0 else { return .claimable }
        switch JobWait(rawValue: job.wait) ?? JobWait.none {
        case .backOff:
            let wait = min(left, max(0, job.backOff ?? .max), Int64(Limits.jobBackOffSecondsMax * 1000))
            return .wait(.steady(moment.steady.adding(clamping: wait)), milliseconds: wait)
        case .notBefore: return .wait(.wall(job.dueAt), milliseconds: left)
        case .none: return .claimable
        }
    }
}

/// Remembers deferred messages, so that this machine can claim their jobs as soon as the host, the work key or the
/// clock permits, without waiting for the servers to deliver them again.
///
/// A message that is forgotten is not lost: the servers deliver it again to any machine.
final class DeferredDeliveries: Sendable {
    /// The condition that a job waits for.
    enum Until: Sendable, Hashable {
        /// None: it can be claimed at once.
        case now
        /// The host has capacity and no job with the same work key is running.
        case capacity(host: String?, key: String)
        /// A time of the wall clock, in milliseconds since 1970.
        case wall(Int64)
        /// A time of the steady clock, in milliseconds.
        case steady(Int64)
    }

    private struct Entry {
        var delivery: LaneDelivery
        var until: Until
        /// When the servers deliver it again to any machine.
        var expiresAt: ContinuousClock.Instant
    }

    /// The maximum number of remembered messages; `ready` takes 1 ms for that many.
    static let countMax = 2_000

    /// Added to the delay, because the servers deliver a message again a little late and it must not be unavailable in
    /// between.
    private static let slack = Duration.milliseconds(250)

    private let entries = Mutex<[JobID: Entry]>([:])

    func add(_ delivery: LaneDelivery, until: Until, for time: Duration) {
        entries.withLock { entries in
            guard entries.count < Self.countMax || entries[delivery.job] != nil else { return }
            var delivery = delivery
            delivery.isDeferred = true
            entries[delivery.job] = Entry(delivery: delivery, until: until, expiresAt: .now + time + Self.slack)
        }
    }

    func remove(_ job: JobID) {
        entries.withLock { _ = $0.removeValue(forKey: job) }
    }

    /// The messages whose condition is met, by lane, in stream order. Forgets messages that the servers deliver again.
    ///
    /// - Parameter hasCapacity: whether a job with this host and work key could run.
    func ready(
        at moment: StoreMoment, hasCapacity: (String?, String) -> Bool
    ) -> [JobPriority: [LaneDelivery]] {
        let ready = entries.withLock { entries -> [LaneDelivery] in
            let now = ContinuousClock.now
            var ready: [LaneDelivery] = []
            for (job, entry) in entries {
                if entry.expiresAt <= now {
                    entries[job] = nil
                } else if Self.isReady(entry.until, moment, hasCapacity) {
                    var delivery = entry.delivery
                    if case .steady = entry.until { delivery.hasWaited = true }
                    ready.append(delivery)
                }
            }
            return ready
        }
        return Dictionary(grouping: ready.sorted { $0.sequence < $1.sequence }, by: \.lane)
    }

    private static func isReady(_ until: Until, _ moment: StoreMoment, _ hasCapacity: (String?, String) -> Bool) -> Bool
    {
        switch until {
        case .now: true
        case .capacity(let host, let key): hasCapacity(host, key)
        case .wall(let date): date <= moment.wall
        case .steady(let date): date <= moment.steady
        }
    }
}
