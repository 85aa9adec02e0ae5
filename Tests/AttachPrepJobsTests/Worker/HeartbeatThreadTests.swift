import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AttachPrepJobs

@Suite(.timeLimit(.minutes(1))) struct HeartbeatThreadTests {
    @Test func `Heartbeats continue while every other task of the process is blocked`() async throws {
        let release = DispatchSemaphore(value: 0)
        let tasks = 4 * ProcessInfo.processInfo.activeProcessorCount
        let heartbeat = HeartbeatThread()
        let counted = try await onOwnThread {
            for _ in 0..<tasks { Task.detached { release.wait() } }
            // On this thread, because no task can run, not even the test itself.
            defer { for _ in 0..<tasks { release.signal() } }
            return Self.heartbeats(of: heartbeat, 3, within: 30)
        }
        #expect(counted)
        heartbeat.stop()
    }

    /// Blocks until there were `count` heartbeats.
    private static func heartbeats(of heartbeat: HeartbeatThread, _ count: Int, within seconds: Double) -> Bool {
        let done = DispatchSemaphore(value: 0)
        heartbeat.start(every: .milliseconds(10)) {
            // Suspends and resumes later, like a call of a store.
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume() }
            }
            done.signal()
        }
        return (0..<count).allSatisfy { _ in done.wait(timeout: .now() + seconds) == .success }
    }

    @Test func `A heartbeat that takes long is not overlapped by the next one`() async throws {
        let heartbeat = HeartbeatThread()
        let (gate, began) = (LoopbackGate(), HeartbeatCounter())
        heartbeat.start(every: .milliseconds(5)) {
            began.add()
            await gate.waitUntilOpen()
        }
        try await waitUntil("a heartbeat") { began.count == 1 }
        try await waitUntil("five more intervals") { began.intervals(of: 0.005) >= 5 }
        #expect(began.count == 1)
        heartbeat.stop()
        gate.open()
    }

    private final class HeartbeatCounter: Sendable {
        private let number = Atomic(0)
        private let start = Date()

        var count: Int { number.load(ordering: .relaxed) }
        func add() { number.add(1, ordering: .relaxed) }
        func intervals(of seconds: Double) -> Int { Int(Date().timeIntervalSince(start) / seconds) }
    }
}
