import Logging
import RichPush
import Synchronization
import TestSupport
import Testing

@testable import AttachPrepService

@Suite(.timeLimit(.minutes(1))) struct TargetWatchTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func `it is looked at the start, and nothing is said before`() async throws {
        let watch = TargetWatch(every: 600, logger: logger) {}
        #expect(watch.health == .unknown)
        let running = Task { await watch.run() }
        try await askUntil("it has looked") { watch.health == .good }
        watch.stop()
        await running.value
    }

    @Test func `a fault is told with its sentence, and is over when a later look finds none`() async throws {
        let looks = Mutex(0)
        let watch = TargetWatch(every: 0, logger: logger) {
            let number = looks.withLock { looks in
                looks += 1
                return looks
            }
            if number < 3 { throw AttachPrepError(.publishDenied, "The bucket refuses us.") }
        }
        let running = Task { await watch.run() }
        try await askUntil("it has found the fault") { watch.health == .fault("The bucket refuses us.") }
        try await askUntil("it has found that it is over") { watch.health == .good }
        watch.stop()
        await running.value
    }

    @Test func `however often it is asked, a young look stands`() async throws {
        let looks = Mutex(0)
        let watch = TargetWatch(every: 600, logger: logger) { looks.withLock { $0 += 1 } }
        let running = Task { await watch.run() }
        try await askUntil("it has looked") { watch.health == .good }
        for _ in 0..<1_000 { _ = watch.health }
        watch.stop()
        await running.value
        #expect(looks.withLock(\.self) == 1)
    }
}
