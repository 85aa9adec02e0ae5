import Dispatch
import Foundation
import Synchronization

/// A thread of its own that keeps time and runs what is asked of the store with each beat.
///
/// Leases live by it, so nothing that keeps Swift's cooperative pool busy may stop it: the wait between two beats is
/// the thread's own, and the calls of a beat run here as well, as far as they do not choose another place themselves.
final class HeartbeatThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isBeating = false
        var isStopped = false
    }

    private let state = Mutex(State())
    private let bell = DispatchSemaphore(value: 0)

    /// Starts it; `beat` is not called again before it has returned.
    func start(every interval: Duration, _ beat: @escaping @Sendable () async -> Void) {
        Thread.detachNewThread { [self] in
            Thread.current.name = "heartbeat"
            run(interval, beat)
        }
    }

    /// Ends the thread once a beat under way is over.
    func stop() {
        state.withLock { $0.isStopped = true }
        bell.signal()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        bell.signal()
    }

    private func run(_ interval: Duration, _ beat: @escaping @Sendable () async -> Void) {
        var next = ContinuousClock.now + interval
        while true {
            let left = max(.zero, ContinuousClock.now.duration(to: next))
            _ = bell.wait(timeout: .now() + left / .seconds(1))  // Bounded: floating-point numbers.
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
            bell.signal()
        }
    }
}
