import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AttachPrepJobs

@Suite(.timeLimit(.minutes(1))) struct HeartbeatTests {
    @Test func `It beats while nothing else in the process gets a turn`() async throws {
        let release = DispatchSemaphore(value: 0)
        let tasks = 4 * ProcessInfo.processInfo.activeProcessorCount
        let heartbeat = HeartbeatThread()
        let counted = try await onOwnThread {
            for _ in 0..<tasks { Task.detached { release.wait() } }
            // Here, since nobody else could: not even the test itself.
            defer { for _ in 0..<tasks { release.signal() } }
            return Self.beats(of: heartbeat, 3, within: 30)
        }
        #expect(counted)
        heartbeat.stop()
    }

    /// Blocks until it has beaten so often.
    private static func beats(of heartbeat: HeartbeatThread, _ count: Int, within seconds: Double) -> Bool {
        let beaten = DispatchSemaphore(value: 0)
        heartbeat.start(every: .milliseconds(10)) {
            // What a store's call does: it goes away, and comes back later.
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume() }
            }
            beaten.signal()
        }
        return (0..<count).allSatisfy { _ in beaten.wait(timeout: .now() + seconds) == .success }
    }

    @Test func `A beat that lasts is not overtaken, and none follows the end`() async throws {
        let heartbeat = HeartbeatThread()
        let (gate, began) = (LoopbackGate(), Atomics())
        heartbeat.start(every: .milliseconds(5)) {
            began.add()
            await gate.untilOpen()
        }
        try await waitUntil("a beat") { began.count == 1 }
        try await waitUntil("five more intervals") { began.intervals(of: 0.005) >= 5 }
        #expect(began.count == 1)
        heartbeat.stop()
        gate.open()
    }

    private final class Atomics: Sendable {
        private let number = Atomic(0)
        private let start = Date()

        var count: Int { number.load(ordering: .relaxed) }
        func add() { number.add(1, ordering: .relaxed) }
        func intervals(of seconds: Double) -> Int { Int(Date().timeIntervalSince(start) / seconds) }
    }
}
