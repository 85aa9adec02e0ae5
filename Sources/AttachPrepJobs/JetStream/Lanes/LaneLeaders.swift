import AttachPrep
import Logging
import NATS
import SafeArithmetic
import Synchronization

/// When a lane's consumer has missed messages for so long that it needs another leader: pure.
struct LaneStall: Sendable {
    /// The last message that was delivered, and since when others wait behind it undelivered.
    private var missed: (after: UInt64, since: Int64)?

    /// A copy that is only late has caught up by then; a lane must not wait much longer.
    static let milliseconds: Int64 = 10_000

    /// - Parameters:
    ///   - delivered: the last message that was delivered while later ones are missed; nil when none is.
    ///   - steady: milliseconds of a clock that is never set.
    /// - Returns: whether a leader is to be elected now; after that it is waited as long again.
    mutating func isDue(missedAfter delivered: UInt64?, at steady: Int64) -> Bool {
        guard let delivered else {
            missed = nil
            return false
        }
        guard let missed, missed.after == delivered else {
            missed = (delivered, steady)
            return false
        }
        guard steady.subtracting(clamping: missed.since) >= Self.milliseconds else { return false }
        self.missed = nil
        return true
    }
}

extension JetStreamQueue {
    /// Has the servers elect another leader for a lane whose consumer no longer gets the stream's messages.
    func sweepLaneLeaders() async throws {
        for lane in JobPriority.allCases {
            let shape = ConsumerShape(stream: names.lanes, filter: names.laneFilter(lane))
            let missed = try await stream.missedMessages(lane.rawValue, shape)
            let isDue = laneStalls.withLock { stalls in
                stalls[lane, default: LaneStall()].isDue(missedAfter: missed, at: clock.now().steady)
            }
            guard isDue, let missed else { continue }
            logger.warning(
                "the NATS server that leads a lane misses its messages; another leader is elected",
                metadata: ["stream": "\(names.lanes)", "consumer": "\(lane.rawValue)", "number": "\(missed)"])
            do {
                try await stream.electLeader(ofConsumer: lane.rawValue, of: names.lanes)
            } catch {
                logger.error(
                    "run: nats consumer cluster step-down \(names.lanes) \(lane.rawValue)",
                    metadata: ["error": "\(error)"])
            }
        }
    }
}
