import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// Whether name servers are away, or only one name is not resolved.
@Suite(.timeLimit(.minutes(1))) struct ResolverMonitorTests {
    private func monitor(probing probes: [String], _ names: [String: NameResolutionError?]) -> ResolverMonitor {
        ResolverMonitor(ScriptedResolver(names), probing: probes, timeout: .milliseconds(300))
    }

    private func isAway(_ monitor: ResolverMonitor) async -> Bool {
        do {
            try await monitor.probe()
            return false
        } catch {
            #expect((error as? AttachPrepError)?.code == .downloadDNS)
            return true
        }
    }

    private static let failure = NameResolutionError.temporary(detail: "no answer")

    @Test func `Name servers are away when no probe name is answered`() async {
        #expect(await isAway(monitor(probing: ["a.example", "b.example"], ["a.example": Self.failure])))
    }

    @Test func `One answer is enough, and that a name does not exist is one`() async {
        #expect(await !isAway(monitor(probing: ["a.example", "b.example"], ["b.example": nil])))
        #expect(await !isAway(monitor(probing: ["a.example"], ["a.example": .unknownName])))
    }

    @Test func `A probe name without an answer is given up after the time limit`() async {
        #expect(await isAway(monitor(probing: ["hang.example", "hang2.example"], [:])))
    }

    @Test func `Without probe names nothing is known`() async {
        #expect(await !isAway(monitor(probing: [], [:])))
    }

    @Test func `An answer for a source during the probe is one, too`() async {
        let monitor = monitor(probing: ["hang.example"], ["cdn.example": nil])
        let source = Task {
            while !Task.isCancelled {
                _ = try? await monitor.addresses(of: "cdn.example")
                await Task.yield()
            }
        }
        #expect(await !isAway(monitor))
        source.cancel()
    }
}

/// Answers some names, fails for others, and hangs for names that begin with "hang".
private struct ScriptedResolver: NameResolver {
    let names: [String: NameResolutionError?]

    init(_ names: [String: NameResolutionError?]) {
        self.names = names
    }

    func addresses(of host: String) async throws -> [IPAddress] {
        if host.hasPrefix("hang") {
            for await _ in AsyncStream<Void>.makeStream().stream {}
            throw CancellationError()
        }
        guard let answer = names[host] else { throw NameResolutionError.temporary(detail: "unknown in this test") }
        if let error = answer { throw error }
        return [IPAddress("192.0.2.1")].compactMap(\.self)
    }
}
