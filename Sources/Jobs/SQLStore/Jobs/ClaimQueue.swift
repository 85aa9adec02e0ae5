import SafeArithmetic
import Synchronization

/// When this process last looked for expired leases: no more than once a second.
final class ReclaimTurn: Sendable {
    private static let pauseMilliseconds: Int64 = 1_000
    private let last = Mutex(Int64.min)

    /// - Parameter now: milliseconds of the clock of leases, which may step back.
    func begins(at now: Int64) -> Bool {
        last.withLock { last in
            guard last == .min || now < last || now.subtracting(clamping: last) >= Self.pauseMilliseconds else {
                return false
            }
            last = now
            return true
        }
    }
}

/// Merges concurrent claims of a process: the database then makes one claim for all of them.
final class ClaimQueue: Sendable {
    /// Maximum number of jobs per claim.
    private static let jobsMax = 256

    private struct Waiting: Sendable {
        var count: Int
        var terms: ClaimTerms
        var resume: @Sendable (Result<[ClaimedRow], any Error>) -> Void
    }

    private struct State {
        var waiting: [Waiting] = []
        var isWorking = false
    }

    private let state = Mutex(State())

    /// - Parameter run: claims a number of jobs.
    func claim(
        _ count: Int, _ terms: ClaimTerms,
        _ run: @escaping @Sendable (Int, ClaimTerms) async throws -> [ClaimedRow]
    ) async throws -> [ClaimedRow] {
        try await withCheckedThrowingContinuation { continuation in
            let begins = state.withLock { state in
                state.waiting.append(Waiting(count: count, terms: terms, resume: { continuation.resume(with: $0) }))
                defer { state.isWorking = true }
                return !state.isWorking
            }
            guard begins else { return }
            Task.detached { [self] in
                while let group = nextGroup() { await Self.serve(group, run) }
            }
        }
    }

    /// The first waiting claims that have the same terms.
    private func nextGroup() -> [Waiting]? {
        state.withLock { state in
            guard let first = state.waiting.first else {
                state.isWorking = false
                return nil
            }
            var sum = 0
            let group = state.waiting.prefix { one in
                defer { sum = sum.adding(clamping: one.count) }
                return one.terms == first.terms && (sum == 0 || sum.adding(clamping: one.count) <= Self.jobsMax)
            }
            state.waiting.removeFirst(group.count)
            return Array(group)
        }
    }

    private static func serve(
        _ group: [Waiting], _ run: @Sendable (Int, ClaimTerms) async throws -> [ClaimedRow]
    ) async {
        do {
            let sum = group.reduce(0) { $0.adding(clamping: $1.count) }
            var rows = try await run(sum, group[0].terms)[...]
            for one in group {
                let share = rows.prefix(one.count)
                rows.removeFirst(share.count)
                one.resume(.success(Array(share)))
            }
        } catch {
            for one in group { one.resume(.failure(error)) }
        }
    }
}
