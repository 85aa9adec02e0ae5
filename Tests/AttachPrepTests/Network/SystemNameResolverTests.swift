import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AttachPrep

@Suite(.timeLimit(.minutes(1))) struct SystemNameResolverTests {
    private let loopback: [IPAddress] = [.v4(0x7f00_0001)]

    @Test func `The system resolves localhost`() async throws {
        #expect(try await SystemNameResolver().addresses(of: "localhost").contains(.v4(0x7f00_0001)))
    }

    @Test func `A numeric address is returned once`() async throws {
        #expect(try await SystemNameResolver().addresses(of: "127.0.0.1") == loopback)
    }

    @Test func `An invalid name is unknown`() async throws {
        await #expect(throws: NameResolutionError.self) { try await SystemNameResolver().addresses(of: "no..name") }
    }

    @Test func `A hanging lookup is abandoned when its task is cancelled`() async throws {
        let gate = LookupGate()
        let resolver = SystemNameResolver(threadsMax: 2) { _ in gate.wait() }
        let lookup = Task { try await resolver.addresses(of: "name.dead") }
        await gate.untilWaiting(1)
        lookup.cancel()
        await #expect(throws: CancellationError.self) { try await lookup.value }
        gate.open()
    }

    @Test func `Hanging lookups never exceed the thread limit, and queued ones run later`() async throws {
        let gate = LookupGate()
        let resolver = SystemNameResolver(threadsMax: 2) { _ in gate.wait() }
        let lookups = (0..<5).map { number in Task { try await resolver.addresses(of: "name\(number).example") } }
        await gate.untilWaiting(2)
        #expect(gate.waiting == 2)
        gate.open()
        for lookup in lookups { #expect(try await lookup.value == [.v4(1)]) }
        #expect(gate.waitingMax == 2)
    }

    @Test func `A cancelled lookup is never started`() async throws {
        let gate = LookupGate()
        let started = Mutex<[String]>([])
        let resolver = SystemNameResolver(threadsMax: 1) { name in
            started.withLock { $0.append(name) }
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
        #expect(started.withLock { $0 } == ["first.example", "third.example"])
    }

    /// Hangs on names with the suffix until the gate opens; answers others at once.
    private func resolver(threads: Int, hanging suffix: String, at gate: LookupGate) -> SystemNameResolver {
        SystemNameResolver(threadsMax: threads) { $0.hasSuffix(suffix) ? gate.wait() : .success([.v4(2)]) }
    }

    @Test(.timeLimit(.minutes(1)))
    func `400 hanging names of one domain use few threads, and other names are resolved`() async throws {
        let gate = LookupGate()
        let resolver = resolver(threads: 64, hanging: ".slow.example", at: gate)
        let lookups = (0..<400).map { number in Task { try await resolver.addresses(of: "n\(number).slow.example") } }
        await gate.untilWaiting(8)
        #expect(try await resolver.addresses(of: "good.org") == [.v4(2)])
        #expect(gate.waitingMax == 8)
        gate.open()
        for lookup in lookups { #expect(try await lookup.value == [.v4(1)]) }
        #expect(gate.waitingMax == 8)
    }

    @Test(.timeLimit(.minutes(1)))
    func `Cancelled hanging lookups leave threads for others`() async throws {
        let gate = LookupGate()
        let resolver = resolver(threads: 8, hanging: ".slow", at: gate)
        let lookups = (0..<6).map { number in Task { try await resolver.addresses(of: "a.n\(number).slow") } }
        await gate.untilWaiting(6)
        for lookup in lookups { lookup.cancel() }
        for lookup in lookups { _ = await lookup.result }
        #expect(try await resolver.addresses(of: "new.org") == [.v4(2)])
        #expect(gate.waiting == 6)
        gate.open()
    }

    @Test(.timeLimit(.minutes(1)))
    func `Names of known domains are resolved while unknown ones hang`() async throws {
        let gate = LookupGate()
        let resolver = resolver(threads: 8, hanging: ".slow", at: gate)
        _ = try await resolver.addresses(of: "one.good.org")
        let lookups = (0..<100).map { number in Task { try await resolver.addresses(of: "a.n\(number).slow") } }
        await gate.untilWaiting(6)
        #expect(try await resolver.addresses(of: "two.good.org") == [.v4(2)])
        gate.open()
        for lookup in lookups { _ = try await lookup.value }
        #expect(gate.waitingMax == 6)
    }

    @Test(.timeLimit(.minutes(1)))
    func `A known domain that hangs counts as unknown again`() async throws {
        let gate = LookupGate()
        let hangs = Mutex(false)
        let resolver = SystemNameResolver(threadsMax: 4) { name in
            name.hasSuffix("turn.org") && hangs.withLock { $0 } ? gate.wait() : .success([.v4(2)])
        }
        _ = try await resolver.addresses(of: "turn.org")
        _ = try await resolver.addresses(of: "good.org")
        hangs.withLock { $0 = true }
        let first = Task { try await resolver.addresses(of: "a.turn.org") }
        await gate.untilWaiting(1)
        first.cancel()
        _ = await first.result
        let others = (0..<3).map { number in Task { try await resolver.addresses(of: "b\(number).turn.org") } }
        await gate.untilWaiting(4)
        #expect(try await resolver.addresses(of: "good.org") == [.v4(2)])
        for other in others { other.cancel() }
        gate.open()
    }

    @Test func `Concurrent lookups of the same name are one lookup`() async throws {
        let gate = LookupGate()
        let started = Mutex(0)
        let resolver = SystemNameResolver(threadsMax: 8) { _ in
            started.withLock { $0 += 1 }
            return gate.wait()
        }
        let lookups = (0..<20).map { number in
            Task { try await resolver.addresses(of: number % 2 == 0 ? "name.example" : "NAME.example") }
        }
        await gate.untilWaiting(1)
        lookups[3].cancel()
        _ = await lookups[3].result
        gate.open()
        for (index, lookup) in lookups.enumerated() where index != 3 { #expect(try await lookup.value == [.v4(1)]) }
        #expect(started.withLock { $0 } <= 2)
    }

    @Test(arguments: [
        ("a.b.example.org", "example.org"), ("example.org", "example.org"), ("localhost", "localhost"),
        ("x.shop.co.uk", "shop.co.uk"), ("A.Example.ORG.", "example.org"), ("a.b.t.co", "t.co"),
    ])
    func `Names are grouped by their registrable domain`(host: String, domain: String) {
        #expect(SystemNameResolver.domain(of: host) == domain)
    }
}

/// Blocks lookups until it is opened, and counts those that wait.
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
