import AttachPrepJobs
import RichPush
import SafeArithmetic
import Synchronization

/// Callers that wait for the end of a job: one listener to the feed for all of them.
final class JobWaiters: Sendable {
    private struct State {
        var last = 0
        var waiters: [JobID: [Int: AsyncStream<Void>.Continuation]] = [:]
        var count = 0
        var isOver = false
    }

    private let state = Mutex(State())
    private let waitersMax: Int

    /// - Parameter waitersMax: more do not wait at all: a client that is gone leaves its wait behind.
    init(waitersMax: Int) {
        self.waitersMax = waitersMax
    }

    /// A job has changed.
    func hear(_ change: JobFeed.Change) {
        // A job that is queued again has failed once, which is enough for some.
        guard change.state.isFinished || change.state == .queued else { return }
        let waiting = state.withLock { $0.waiters[change.job]?.values.map(\.self) ?? [] }
        for waiter in waiting { waiter.yield() }
    }

    /// Lets everybody go, and nobody wait any more.
    func finish() {
        let all = state.withLock { state in
            defer { state.waiters = [:] }
            state.isOver = true
            return state.waiters.values.flatMap(\.values)
        }
        for waiter in all { waiter.finish() }
    }

    /// Looks for a job until it has ended (or whatever else is enough), the time is over, or the service stops.
    ///
    /// - Returns: the job as it was seen last.
    func end(
        of id: JobID, before deadline: ContinuousClock.Instant,
        until isEnough: (Job) -> Bool = { $0.state.isFinished }, look: () async throws -> Job
    ) async throws -> Job {
        while true {
            // Told from before the look on, so that nothing falls between look and wait.
            let place = enter(id)
            defer { if let place { leave(id, place.number) } }
            let job = try await look()
            guard !isEnough(job), let place, ContinuousClock.now < deadline else { return job }
            await Self.first(of: place.signals, before: deadline)
        }
    }

    /// Returns with a signal, at the deadline, or when it is time to look without having been told.
    private static func first(of signals: AsyncStream<Void>, before deadline: ContinuousClock.Instant) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in signals { return } }
            group.addTask {
                let poll = ContinuousClock.now.advanced(by: .seconds(clamping: Limits.waitPollSeconds))
                try? await Task.sleep(until: min(deadline, poll), clock: .continuous)
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func enter(_ job: JobID) -> (number: Int, signals: AsyncStream<Void>)? {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        return state.withLock { state in
            guard !state.isOver, state.count < waitersMax else { return nil }
            state.last += 1
            state.count += 1
            state.waiters[job, default: [:]][state.last] = continuation
            return (state.last, stream)
        }
    }

    private func leave(_ job: JobID, _ number: Int) {
        state.withLock { state in
            state.count -= 1
            state.waiters[job]?[number] = nil
            if state.waiters[job]?.isEmpty == true { state.waiters[job] = nil }
        }
    }
}
