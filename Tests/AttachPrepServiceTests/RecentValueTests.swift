import Synchronization
import Testing

@testable import AttachPrepService

struct RecentValueTests {
    private final class Counter: Sendable {
        let asked = Mutex(0)

        func next() -> Int {
            asked.withLock { asked in
                asked += 1
                return asked
            }
        }
    }

    @Test func `an answer is everybody's until it is old`() async throws {
        let counter = Counter()
        let recent = CachedValue(for: .seconds(2)) { counter.next() }
        let start = ContinuousClock.now
        #expect(try await recent.value(at: start) == 1)
        #expect(try await recent.value(at: start + .seconds(1.9)) == 1)
        #expect(try await recent.value(at: start + .seconds(2)) == 2)
    }

    @Test func `who asks while it is being asked waits for the same answer`() async throws {
        let counter = Counter()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let recent = CachedValue(for: .seconds(600)) {
            for await _ in gate { break }
            return counter.next()
        }
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await recent.value() } }
            open.finish()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: 1, count: 100))
    }

    @Test func `what failed is asked again at once`() async throws {
        struct Fault: Error {}
        let counter = Counter()
        let recent = CachedValue<Int>(for: .seconds(600)) {
            let number = counter.next()
            guard number > 1 else { throw Fault() }
            return number
        }
        await #expect(throws: Fault.self) { try await recent.value() }
        #expect(try await recent.value() == 2)
    }
}
