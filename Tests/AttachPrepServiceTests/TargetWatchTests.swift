import AttachPrep
import Logging
import RichPush
import Synchronization
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import AttachPrepService

@Suite(.timeLimit(.minutes(1))) struct TargetWatchTests {
    /// A place whose looks fail as long as they are told to.
    private final class Place: Sendable {
        private let state = Mutex<(looks: Int, status: PublishStatus?)>((0, nil))
        let faults: Int

        init(faults: Int = 0) {
            self.faults = faults
        }

        var looks: Int { state.withLock(\.looks) }

        func found(_ fault: AttachPrepError?) {
            state.withLock { $0.status = PublishStatus(date: .now, fault: fault) }
        }

        func watch(every seconds: Double) -> PublishTargetMonitor {
            PublishTargetMonitor(
                every: seconds, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                status: { self.state.withLock(\.status) },
                probe: {
                    let number = self.state.withLock { state in
                        state.looks += 1
                        return state.looks
                    }
                    let fault = AttachPrepError(.publishDenied, "The bucket refuses us.")
                    self.found(number <= self.faults ? fault : nil)
                    if number <= self.faults { throw fault }
                })
        }
    }

    @Test func `it looks at the start, and nothing is said before`() async throws {
        let place = Place()
        let watch = place.watch(every: 600)
        #expect(watch.health == .unknown)
        let running = Task { await watch.run() }
        try await pollUntil("it has looked") { watch.health == .healthy }
        watch.stop()
        await running.value
    }

    @Test func `a fault is told with its sentence, and is over when a later probe finds none`() async throws {
        let place = Place(faults: 2)
        let watch = place.watch(every: 0)
        let running = Task { await watch.run() }
        try await pollUntil("it has found the fault") { place.looks > 0 }
        try await pollUntil("it has found that it is over") { watch.health == .healthy }
        watch.stop()
        await running.value
        #expect(place.looks > 2)
    }

    @Test func `what publishing finds out is told, and no probe is needed meanwhile`() async throws {
        let place = Place()
        let watch = place.watch(every: 600)
        place.found(AttachPrepError(.publishUnavailable, "The bucket is gone."))
        let running = Task { await watch.run() }
        #expect(watch.health == .unhealthy("The bucket is gone."))
        place.found(nil)
        #expect(watch.health == .healthy)
        watch.stop()
        await running.value
        #expect(place.looks == 0)
    }

    @Test func `however often it is asked, a young finding stands`() async throws {
        let place = Place()
        let watch = place.watch(every: 600)
        let running = Task { await watch.run() }
        try await pollUntil("it has looked") { watch.health == .healthy }
        for _ in 0..<1_000 { _ = watch.health }
        watch.stop()
        await running.value
        #expect(place.looks == 1)
    }
}
