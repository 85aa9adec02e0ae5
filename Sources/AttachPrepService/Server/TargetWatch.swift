import Logging
import RichPush
import Synchronization

/// Whether results can be published, as the last look found: at the start, and later when somebody asks and it is old.
///
/// Nobody waits for it, and where nobody asks nothing is sent: a look is two requests to the bucket.
final class TargetWatch: Sendable {
    private struct State {
        var health = PlaceHealth.unknown
        var lookedAt: ContinuousClock.Instant?
    }

    private let look: @Sendable () async throws -> Void
    private let seconds: Double
    private let logger: Logger
    private let state = Mutex(State())
    private let bell: AsyncStream<Void>
    private let ring: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - seconds: from one look to the next at the least.
    ///   - look: throws what publishing would fail with.
    init(every seconds: Double, logger: Logger, _ look: @escaping @Sendable () async throws -> Void) {
        (self.seconds, self.logger, self.look) = (seconds, logger, look)
        (bell, ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// What the last look found; an old one has another one made for who asks next.
    var health: PlaceHealth {
        ring.yield()
        return state.withLock(\.health)
    }

    /// Looks when it is time to; returns after `stop`.
    func run() async {
        ring.yield()
        for await _ in bell where isOld {
            let health = await found()
            let before = state.withLock { state in
                defer { state = State(health: health, lookedAt: .now) }
                return state.health
            }
            if health.isHealthy == true, before.isHealthy != true { logger.info("the bucket takes files") }
        }
    }

    func stop() { ring.finish() }

    private var isOld: Bool {
        state.withLock(\.lookedAt).map { ContinuousClock.now - $0 >= .seconds(seconds) } ?? true
    }

    private func found() async -> PlaceHealth {
        do {
            try await look()
            return .good
        } catch {
            logger.error("the bucket takes no files now; jobs will fail until it does", metadata: ["error": "\(error)"])
            return .fault((error as? AttachPrepError)?.message ?? "The place to publish to takes no files now.")
        }
    }
}
