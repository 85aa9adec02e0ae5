import AttachPrep
import Logging
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import AttachPrepService

@Suite(.timeLimit(.minutes(1))) struct PublishTargetMonitorTests {
    /// A publish target whose first `failures` probes fail.
    private final class Target: Sendable {
        private let state = Mutex<(probes: Int, status: PublishStatus?)>((0, nil))
        let failures: Int

        init(failures: Int = 0) {
            self.failures = failures
        }

        var probes: Int { state.withLock(\.probes) }

        func record(_ error: AttachPrepError?) {
            state.withLock { $0.status = PublishStatus(date: .now, error: error) }
        }

        func monitor(every seconds: Double) -> PublishTargetMonitor {
            PublishTargetMonitor(
                every: seconds, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                status: { self.state.withLock(\.status) },
                probe: {
                    let number = self.state.withLock { state in
                        state.probes += 1
                        return state.probes
                    }
                    let error = AttachPrepError(.publishDenied, "The bucket denies access.")
                    self.record(number <= self.failures ? error : nil)
                    if number <= self.failures { throw error }
                })
        }
    }

    @Test func `The target is probed at the start, and its health is unknown before`() async throws {
        let target = Target()
        let monitor = target.monitor(every: 600)
        #expect(monitor.health == .unknown)
        let running = Task { await monitor.run() }
        try await pollUntil("a probe has succeeded") { monitor.health == .healthy }
        monitor.stop()
        await running.value
    }

    @Test func `A failed probe makes the target unhealthy until a later probe succeeds`() async throws {
        let target = Target(failures: 2)
        let monitor = target.monitor(every: 0)
        let running = Task { await monitor.run() }
        try await pollUntil("a probe has failed") { target.probes > 0 }
        try await pollUntil("a later probe has succeeded") { monitor.health == .healthy }
        monitor.stop()
        await running.value
        #expect(target.probes > 2)
    }

    @Test func `Publishing results update the health without a probe`() async throws {
        let target = Target()
        let monitor = target.monitor(every: 600)
        target.record(AttachPrepError(.publishUnavailable, "The bucket is gone."))
        let running = Task { await monitor.run() }
        #expect(monitor.health == .unhealthy("The bucket is gone."))
        target.record(nil)
        #expect(monitor.health == .healthy)
        monitor.stop()
        await running.value
        #expect(target.probes == 0)
    }

    @Test func `Reading the health does not trigger a probe while the last one is recent`() async throws {
        let target = Target()
        let monitor = target.monitor(every: 600)
        let running = Task { await monitor.run() }
        try await pollUntil("a probe has succeeded") { monitor.health == .healthy }
        for _ in 0..<1_000 { _ = monitor.health }
        monitor.stop()
        await running.value
        #expect(target.probes == 1)
    }
}
