import AttachPrep
import AttachPrepJobs
import RichPush

/// Callers that each put in a job, take one and end it, again and again.
struct RateMeasurement {
    let store: any JobQueue
    let jobs: Int
    let callers: Int

    /// - Returns: jobs a second.
    func run() async throws -> Int {
        let (store, rounds, callers) = (store, jobs / callers, callers)
        let time = try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<callers {
                    group.addTask {
                        for round in 0..<rounds { try await Self.roundTrip(store, caller * rounds + round) }
                    }
                }
                try await group.waitForAll()
            }
        }
        return Int(Double(rounds * callers) / (time / .seconds(1)))
    }

    private static func roundTrip(_ store: any JobQueue, _ number: Int) async throws {
        _ = try await store.enqueue([.numbered(number)], idempotency: nil)
        // Another caller may have taken it; then there is one of somebody else's, or there was.
        for claimed in try await store.claim(1, by: "measurement", lease: .seconds(60), hostLimit: 16) {
            _ = try await store.finish(claimed.lease, .succeeded(.sample, .make()), notice: nil)
        }
    }
}
