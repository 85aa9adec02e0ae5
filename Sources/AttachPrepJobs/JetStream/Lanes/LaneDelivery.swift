import AttachPrep
import NATS

/// A message of a lane: it names a job, and who has it may claim it.
struct LaneDelivery: Sendable, Hashable {
    var job: JobID
    var lane: JobPriority
    /// Where it is acknowledged.
    var reply: String
    /// Its place in the stream: jobs are given in that order.
    var number: UInt64
    /// How often it was given to somebody.
    var count: Int
    /// Whether it was put off before, and is remembered.
    var isRemembered = false
    /// Whether it has waited for as long as it was to, by the steady clock.
    var hasWaited = false
}

extension LaneDelivery {
    /// Nil for a message that names no job.
    init?(_ delivery: Delivery, lane: JobPriority) {
        guard let job = JobID(delivery.lastToken) else { return nil }
        self.init(
            job: job, lane: lane, reply: delivery.reply, number: delivery.number, count: delivery.count)
    }
}
