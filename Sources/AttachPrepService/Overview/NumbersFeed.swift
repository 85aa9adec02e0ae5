import AttachPrepJobs
import RichPush
import SafeArithmetic
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The queue's numbers for those who listen: as they are, and then whenever they are others.
///
/// One question for all listeners, and none while nobody listens. It is asked by the clock, since numbers change
/// without any job's doing so (a time comes, another process works), and a busy queue's a thousand times a second.
final class NumbersFeed: Sendable {
    private struct State {
        var last = 0
        var listeners: [Int: AsyncStream<JobCounts>.Continuation] = [:]
        var told: JobCounts?
        var asking: Task<Void, Never>?
    }

    private let seconds: Double
    private let ask: @Sendable () async throws -> JobCounts
    private let state = Mutex(State())

    /// - Parameter seconds: between two questions.
    init(every seconds: Double, _ ask: @escaping @Sendable () async throws -> JobCounts) {
        (self.seconds, self.ask) = (seconds, ask)
    }

    deinit {
        state.withLock(\.asking)?.cancel()
    }

    /// The numbers, now and at each change; the latest alone waits to be read.
    func numbers() -> AsyncStream<JobCounts> {
        let (stream, continuation) = AsyncStream.makeStream(of: JobCounts.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = continuation
            if let told = state.told { continuation.yield(told) }
            if state.asking == nil { state.asking = begin() }
            return state.last
        }
        continuation.onTermination = { [weak self] _ in self?.leave(number) }
        return stream
    }

    private func leave(_ number: Int) {
        state.withLock { state in
            state.listeners[number] = nil
            guard state.listeners.isEmpty else { return }
            state.asking?.cancel()
            (state.asking, state.told) = (nil, nil)
        }
    }

    private func begin() -> Task<Void, Never> {
        Task { [weak self, ask, seconds] in
            while !Task.isCancelled {
                // Who asks for jobs hears what is wrong; here there is nothing to tell.
                if let counts = try? await ask() { self?.tell(counts) }
                try? await Task.sleep(for: .seconds(clamping: seconds))
            }
        }
    }

    private func tell(_ counts: JobCounts) {
        // Cancelled with the last listener, who may have been followed by another one: that one has its own.
        guard !Task.isCancelled else { return }
        let listeners = state.withLock { state in
            if let told = state.told, told.byState == counts.byState, told.due == counts.due,
                told.oldestDue == counts.oldestDue
            {
                return [AsyncStream<JobCounts>.Continuation]()
            }
            state.told = counts
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(counts) }
    }
}
