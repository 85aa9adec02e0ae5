import AttachPrep
import AttachPrepJobs
import RichPush

/// Callers that each put in a job, take one and end it, again and again.
struct RateMeasurement {
    let store: any JobQueue
    let jobs: Int
    let callers: Int

    /// - Returns: how many have ended, and how many that is a second.
    func run() async throws -> (ended: Int, perSecond: Int) {
        let (store, rounds, callers) = (store, jobs / callers, callers)
        let start = ContinuousClock.now
        let ended = try await withThrowingTaskGroup(of: Int.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    var ended = 0
                    for round in 0..<rounds { ended += try await Self.roundTrip(store, caller * rounds + round) }
                    return ended
                }
            }
            return try await group.reduce(0, +)
        }
        return (ended, Int(Double(ended) / (start.duration(to: .now) / .seconds(1))))
    }

    /// - Returns: how many it has ended: another caller may have taken its job, and there was none of somebody else's.
    private static func roundTrip(_ store: any JobQueue, _ number: Int) async throws -> Int {
        _ = try await store.enqueue([.numbered(number)], idempotency: nil)
        let claimed = try await store.claim(1, by: "measurement", lease: .seconds(60), hostLimit: 16)
        for job in claimed { _ = try await store.finish(job.lease, .succeeded(.sample, .make()), notice: nil) }
        return claimed.count
    }
}
