import AttachPrep
import AttachPrepJobs
import MediaTypes
import SQLStore
import SQLiteDatabase

/// Measures throughput: concurrent callers that repeatedly enqueue a job, claim one and finish it.
struct RateMeasurement {
    let store: any JobQueue
    let jobs: Int
    let callers: Int

    /// - Returns: The number of finished jobs, and the rate per second.
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

    /// - Returns: The number of finished jobs: 0 when other callers claimed all queued jobs first.
    private static func roundTrip(_ store: any JobQueue, _ number: Int) async throws -> Int {
        _ = try await store.enqueue([.numbered(number)], idempotency: nil)
        let claimed = try await store.claim(1, by: "measurement", lease: .seconds(60), hostLimit: 16)
        for job in claimed { _ = try await store.finish(job.lease, .succeeded(.sample, .make()), notice: nil) }
        return claimed.count
    }
}

/// Measures the latency of sequential calls while many jobs are queued.
struct BacklogMeasurement {
    private static let calls = 1_000
    private static let batch = 1_000

    let store: SQLJobStore
    let backlog: Int

    /// - Returns: The line of claims.
    func runClaims() async throws -> String {
        let store = store
        try await fill(from: 0, host: nil)
        return try await Self.line("claim") { try await Self.claim(store) }
    }

    /// - Returns: One line per kind of call.
    func run() async throws -> [String] {
        let store = store
        try await fill(from: 0, host: nil)
        return [
            try await Self.line("claim") { try await Self.claim(store) },
            try await Self.line("list of 50") { _ = try await store.list(JobFilter(), after: nil, limit: 50) },
            try await Self.line("list of 50 queued") {
                _ = try await store.list(JobFilter(states: [.queued]), after: nil, limit: 50)
            },
            try await Self.line("counts") { _ = try await store.counts() },
            try await Self.line("search without a match", calls: 20) {
                _ = try await store.list(JobFilter(search: "nowhere"), after: nil, limit: 50)
            },
        ]
    }

    /// Measures claims when all due jobs except the newest belong to a busy host.
    func runBesideSlowHost() async throws -> [String] {
        let store = store
        try await fill(from: 0, host: "slow.example")
        _ = try await store.claim(16, by: "measurement", lease: .seconds(600), hostLimit: 16)
        _ = try await store.enqueue((0..<Self.calls).map { .numbered(2 * backlog + $0) }, idempotency: nil)
        let first = try await ContinuousClock().measure { try await Self.claim(store) }
        return [
            "first claim behind a busy host: \(first.milliseconds) ms",
            try await Self.line("claim behind a busy host", calls: Self.calls - 1) { try await Self.claim(store) },
        ]
    }

    private func fill(from first: Int, host: String?) async throws {
        for start in stride(from: first, to: first + backlog, by: Self.batch) {
            // Leaves capacity for the jobs that are enqueued afterwards.
            let end = min(start + Self.batch, first + backlog - 2 * Self.calls)
            guard start < end else { return }
            _ = try await store.enqueue((start..<end).map { .numbered($0, host: host) }, idempotency: nil)
        }
    }

    private static func claim(_ store: SQLJobStore) async throws {
        let claimed = try await store.claim(1, by: "measurement", lease: .seconds(600), hostLimit: 16)
        precondition(claimed.count == 1, "The queue must contain enough jobs.")
    }

    private static func line(
        _ name: String, calls: Int = calls, _ call: () async throws -> Void
    ) async throws -> String {
        var times: [Duration] = []
        for _ in 0..<calls { times.append(try await ContinuousClock().measure(call)) }
        times.sort()
        let (median, late) = (times[calls / 2].milliseconds, times[calls * 99 / 100].milliseconds)
        return "\(name): median \(median) ms, 99th percentile \(late) ms"
    }
}

extension Duration {
    fileprivate var milliseconds: String {
        let hundredths = Int(self / .microseconds(10))
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
