import AttachPrep
import Logging
import RichPush

/// Whether results can be published: as the last one that was found out, or as a look finds out, at the start and later
/// when somebody asks and nothing was published for long.
///
/// Nobody waits for it, and where nobody asks nothing is sent: a look is two requests to the bucket.
final class TargetWatch: Sendable {
    private let seconds: Double
    private let logger: Logger
    private let standing: @Sendable () -> PublishStanding?
    private let look: @Sendable () async throws -> Void
    private let bell: AsyncStream<Void>
    private let ring: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - seconds: what was found is good for so long.
    ///   - standing: what was found last.
    ///   - look: finds out anew; throws what publishing would fail with.
    init(
        every seconds: Double, logger: Logger, standing: @escaping @Sendable () -> PublishStanding?,
        look: @escaping @Sendable () async throws -> Void
    ) {
        (self.seconds, self.logger, self.standing, self.look) = (seconds, logger, standing, look)
        (bell, ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// What was found last; has an old one found out anew, for who asks next.
    var health: PlaceHealth {
        ring.yield()
        return standing().map { PlaceHealth(reason: $0.fault?.message) } ?? .unknown
    }

    /// Looks when it is time to; returns after `stop`.
    func run() async {
        ring.yield()
        var wasGood = false
        for await _ in bell where isOld {
            do {
                try await look()
                if !wasGood { logger.info("the bucket takes files") }
                wasGood = true
            } catch {
                logger.error(
                    "the bucket takes no files now; jobs will fail until it does", metadata: ["error": "\(error)"])
                wasGood = false
            }
        }
    }

    func stop() { ring.finish() }

    private var isOld: Bool { standing().map { ContinuousClock.now - $0.date >= .seconds(seconds) } ?? true }
}
