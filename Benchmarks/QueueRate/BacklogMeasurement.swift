import AttachPrep
import AttachPrepJobs
import RichPush

/// How long calls take one by one while many jobs wait.
struct BacklogMeasurement {
    private static let calls = 1_000
    private static let batch = 1_000

    let store: SQLiteStore
    let backlog: Int

    /// - Returns: a line for each kind of call.
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
            try await Self.line("search that finds nothing", calls: 20) {
                _ = try await store.list(JobFilter(search: "nowhere"), after: nil, limit: 50)
            },
        ]
    }

    /// The same when everything that is due belongs to a host that is busy, but for what came last.
    func runBesideSlowHost() async throws -> [String] {
        let store = store
        try await fill(from: 0, host: "slow.example")
        _ = try await store.claim(16, by: "measurement", lease: .seconds(600), hostLimit: 16)
        _ = try await store.enqueue((0..<Self.calls).map { .numbered(2 * backlog + $0) }, idempotency: nil)
        let first = try await ContinuousClock().measure { try await Self.claim(store) }
        return [
            "first claim behind a busy host's: \(first.milliseconds) ms",
            try await Self.line("claim behind a busy host's", calls: Self.calls - 1) { try await Self.claim(store) },
        ]
    }

    private func fill(from first: Int, host: String?) async throws {
        for start in stride(from: first, to: first + backlog, by: Self.batch) {
            // Room for those that are put in afterwards.
            let end = min(start + Self.batch, first + backlog - 2 * Self.calls)
            guard start < end else { return }
            _ = try await store.enqueue((start..<end).map { .numbered($0, host: host) }, idempotency: nil)
        }
    }

    private static func claim(_ store: SQLiteStore) async throws {
        let claimed = try await store.claim(1, by: "measurement", lease: .seconds(600), hostLimit: 16)
        precondition(claimed.count == 1, "there are enough")
    }

    private static func line(
        _ name: String, calls: Int = calls, _ call: () async throws -> Void
    ) async throws -> String {
        var times: [Duration] = []
        for _ in 0..<calls { times.append(try await ContinuousClock().measure(call)) }
        times.sort()
        let (median, late) = (times[calls / 2].milliseconds, times[calls * 99 / 100].milliseconds)
        return "\(name): \(median) ms in the middle, \(late) ms for the slowest of a hundred"
    }
}

extension Duration {
    fileprivate var milliseconds: String {
        let hundredths = Int(self / .microseconds(10))
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
