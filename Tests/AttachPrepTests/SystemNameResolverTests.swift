import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AttachPrep

@Suite(.timeLimit(.minutes(1))) struct SystemNameResolverTests {
    private let loopback: [IPAddress] = [.v4(0x7f00_0001)]

    @Test func `The system knows localhost`() async throws {
        #expect(try await SystemNameResolver().addresses(of: "localhost").contains(.v4(0x7f00_0001)))
    }

    @Test func `The system reads numbers, each once`() async throws {
        #expect(try await SystemNameResolver().addresses(of: "127.0.0.1") == loopback)
    }

    @Test func `A name that cannot be is unknown`() async throws {
        await #expect(throws: NameResolutionError.self) { try await SystemNameResolver().addresses(of: "no..name") }
    }

    @Test func `A lookup that hangs is abandoned when its task is cancelled`() async throws {
        let gate = LookupGate()
        let resolver = SystemNameResolver(threadsMax: 2) { _ in gate.wait() }
        let lookup = Task { try await resolver.addresses(of: "name.dead") }
        await gate.untilWaiting(1)
        lookup.cancel()
        await #expect(throws: CancellationError.self) { try await lookup.value }
        gate.open()
    }

    @Test func `Hanging lookups never take more threads than allowed, and what waits is done later`() async throws {
        let gate = LookupGate()
        let resolver = SystemNameResolver(threadsMax: 2) { _ in gate.wait() }
        let lookups = (0..<5).map { number in Task { try await resolver.addresses(of: "name\(number).example") } }
        await gate.untilWaiting(2)
        #expect(gate.waiting == 2)
        gate.open()
        for lookup in lookups { #expect(try await lookup.value == [.v4(1)]) }
        #expect(gate.waitingMax == 2)
    }

    @Test func `A lookup that was given up is not asked at all`() async throws {
        let gate = LookupGate()
        let asked = Mutex<[String]>([])
        let resolver = SystemNameResolver(threadsMax: 1) { name in
            asked.withLock { $0.append(name) }
            return gate.wait()
        }
        let first = Task { try await resolver.addresses(of: "first.example") }
        await gate.untilWaiting(1)
        let second = Task { try await resolver.addresses(of: "second.example") }
        second.cancel()
        _ = await second.result
        gate.open()
        _ = try await first.value
        _ = try await resolver.addresses(of: "third.example")
        #expect(asked.withLock { $0 } == ["first.example", "third.example"])
    }
}

/// Holds lookups up until it is opened, and counts those that wait.
private final class LookupGate: @unchecked Sendable {
    // Sendable because the condition guards everything.
    private let condition = NSCondition()
    private var isOpen = false
    private(set) var waiting = 0
    private(set) var waitingMax = 0
    private var watcher: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    func wait() -> Result<[IPAddress], NameResolutionError> {
        condition.withLock {
            waiting += 1
            waitingMax = max(waitingMax, waiting)
            if let watcher, watcher.count <= waiting {
                watcher.continuation.resume()
                self.watcher = nil
            }
            while !isOpen { condition.wait() }
            waiting -= 1
        }
        return .success([.v4(1)])
    }

    func open() {
        condition.withLock {
            isOpen = true
            condition.broadcast()
        }
    }

    func untilWaiting(_ count: Int) async {
        await withCheckedContinuation { continuation in
            condition.withLock {
                if waiting >= count { return continuation.resume() }
                watcher = (count, continuation)
            }
        }
    }
}
