import Glibc
import MediaEngine
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

/// When a child that works is replaced, and how.
@Suite(.timeLimit(.minutes(1))) struct ChildRecyclingTests {
    private struct Case: Sendable {
        var calls = 1
        var ageSeconds = 1.0
        var megabytes: Int? = 60
        let expected: ChildRecycling
    }

    @Test(arguments: [
        Case(expected: .none), Case(calls: 499, expected: .none), Case(calls: 500, expected: .whenSuccessorReady),
        Case(ageSeconds: 3_599, expected: .none), Case(ageSeconds: 3_600, expected: .whenSuccessorReady),
        Case(megabytes: 250, expected: .none), Case(megabytes: 251, expected: .immediately),
        Case(calls: 500, megabytes: 800, expected: .immediately), Case(megabytes: nil, expected: .none),
    ]) private func `By calls, age and memory`(of child: Case) {
        let decision = ChildRecycling(
            calls: child.calls, age: .seconds(child.ageSeconds),
            residentBytes: child.megabytes.map { $0 * 1_000_000 })
        #expect(decision == child.expected)
    }

    private static let answering = "while True: say(hear()['number'], described)"

    @Test func `The successor of a child with many calls is there before it goes`() async throws {
        let child = try ScriptedChild(Self.answering)
        try await child.withPool { pool in
            for _ in 0..<Limits.childCallsMax { _ = try await pool.describe(deadline: .now + .seconds(60)) }
            // Calls are answered all the time; once the successor is ready the first child goes.
            let first = try #require(child.processIDs.first)
            while kill(first, 0) == 0 { _ = try await pool.describe(deadline: .now + .seconds(60)) }
            _ = try await pool.describe(deadline: .now + .seconds(60))
            #expect(child.processIDs.count == 2)
        }
    }

    @Test func `A child that keeps memory is replaced before the next call`() async throws {
        let hoarding = "hoard = bytearray(b'x') * (300 << 20) if starts == 0 else 0\n"
        let child = try ScriptedChild(hoarding + Self.answering)
        try await child.withPool { pool in
            for _ in 0..<2 { _ = try await pool.describe(deadline: .now + .seconds(60)) }
            let first = try #require(child.processIDs.first)
            #expect(child.processIDs.count == 2 && kill(first, 0) != 0)
        }
    }

    @Test func `As many children start as requests are expected, and no more than have work`() async throws {
        for (requests, children) in [(1, 1), (2, 2), (100, 3)] {
            let child = try ScriptedChild("pause()")
            try await child.withPool(slots: 2) { pool in
                pool.warmUp(requests: requests)
                while child.processIDs.count < children { await Task.yield() }
            }
            #expect(child.processIDs.count == children)
        }
    }
}
