import Logging
import NATS
import Synchronization

/// Keeps a mirror as its bucket is: follows it, and follows it again from where it was when that ends.
final class JobFollower: Sendable {
    private let bucket: KeyValueBucket
    private let mirror: JobMirror
    private let clock: StoreClock
    private let logger: Logger
    private let state = Mutex((revision: UInt64(0), isCurrent: false, heardAt: ContinuousClock.now))

    /// What was removed is remembered by the servers for twice as long: who was away for longer looks at everything
    /// anew.
    static let absenceSecondsMax = 12.0 * 3600

    init(bucket: KeyValueBucket, mirror: JobMirror, clock: StoreClock, logger: Logger) {
        self.bucket = bucket
        self.mirror = mirror
        self.clock = clock
        self.logger = logger
    }

    func run(_ start: FollowerStart) async {
        while !Task.isCancelled {
            do {
                try await startAnewIfLate()
                try await bucket.follow(after: state.withLock { $0.revision }) { [self] entries, isCurrent in
                    try await hear(entries)
                    guard isCurrent else { return }
                    state.withLock { $0.isCurrent = true }
                    start.isThere()
                }
            } catch let error as CopyIsBehind {
                logger.warning(
                    "a NATS server's copy of the queue is behind its leader's; changes are followed through another",
                    metadata: ["stream": "\(error.stream)", "number": "\(error.number)"])
            } catch {
                if Task.isCancelled { return }
                logger.debug("follows the jobs again", metadata: ["error": "\(error)"])
                try? await ContinuousClock().sleep(for: Self.pause)
            }
        }
    }

    /// A cluster that has no leader has one again after a second or two.
    private static let pause = Duration.milliseconds(250)

    private func startAnewIfLate() async throws {
        let heardAt = state.withLock { $0.heardAt }
        guard ContinuousClock.now - heardAt > .seconds(Self.absenceSecondsMax) else { return }
        try await mirror.clear()
        mirror.hearing.startAnew()
        state.withLock { $0 = (revision: 0, isCurrent: false, heardAt: .now) }
    }

    private func hear(_ entries: [KeyValueEntry]) async throws {
        state.withLock { $0.heardAt = .now }
        guard let last = entries.last else { return }
        try await mirror.take(entries, at: clock.now(), isNews: state.withLock { $0.isCurrent })
        state.withLock { $0.revision = max($0.revision, last.revision) }
        mirror.hearing.heard(last.revision)
    }
}
