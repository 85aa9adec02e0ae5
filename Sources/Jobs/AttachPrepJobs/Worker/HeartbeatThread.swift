import Dispatch
import Foundation
import Synchronization

/// A dedicated thread that runs the lease renewal at a fixed interval.
///
/// A busy cooperative pool must not delay renewals: the thread itself waits between two beats, and the async calls of a
/// beat run on it, unless they choose another executor.
final class HeartbeatThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isBeating = false
        var isStopped = false
    }

    private let state = Mutex(State())
    private let wakeSemaphore = DispatchSemaphore(value: 0)

    /// Starts the thread; `beat` is not called again before it has returned.
    func start(every interval: Duration, _ beat: @escaping @Sendable () async -> Void) {
        Thread.detachNewThread { [self] in
            Thread.current.name = "heartbeat"
            run(interval, beat)
        }
    }

    /// Stops the thread after the current beat.
    func stop() {
        state.withLock { $0.isStopped = true }
        wakeSemaphore.signal()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        wakeSemaphore.signal()
    }

    private func run(_ interval: Duration, _ beat: @escaping @Sendable () async -> Void) {
        var next = ContinuousClock.now + interval
        while true {
            let left = max(.zero, ContinuousClock.now.duration(to: next))
            _ = wakeSemaphore.wait(timeout: .now() + left / .seconds(1))
            runJobs()
            if state.withLock({ $0.isStopped && !$0.isBeating && $0.jobs.isEmpty }) { return }
            guard ContinuousClock.now >= next else { continue }
            next = .now + interval
            begin(beat)
        }
    }

    private func runJobs() {
        let jobs = state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func begin(_ beat: @escaping @Sendable () async -> Void) {
        let isDue = state.withLock { state in
            defer { state.isBeating = !state.isStopped }
            return !state.isBeating && !state.isStopped
        }
        guard isDue else { return }
        Task(executorPreference: self) { [self] in
            await beat()
            state.withLock { $0.isBeating = false }
            wakeSemaphore.signal()
        }
    }
}

/// Wakes one waiting task; a signal without a waiter makes the next wait return at once.
final class WakeSignal: Sendable {
    private let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func signal() { continuation.yield() }

    func wait(atMost limit: Duration) async {
        // A late timeout causes one needless wake-up, which is harmless.
        let timeout = Task {
            try await ContinuousClock().sleep(for: limit)
            signal()
        }
        defer { timeout.cancel() }
        // A task of its own: cancelling a reader would end the stream.
        await Task { [signals] in for await _ in signals { return } }.value
    }
}
