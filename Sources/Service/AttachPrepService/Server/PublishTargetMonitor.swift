import AttachPrep
import AttachPrepModel
import Logging
import MediaTypes

/// Monitors whether results can be published: from the last publication, or from a probe (two requests to the bucket).
///
/// It probes at the start, and when `health` is read while the last result is older than `seconds`. Reading `health`
/// never waits.
final class PublishTargetMonitor: Sendable {
    private let seconds: Double
    private let logger: Logger
    private let status: @Sendable () -> PublishStatus?
    private let probe: @Sendable () async throws -> Void
    private let triggers: AsyncStream<Void>
    private let trigger: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - seconds: how long a result is valid.
    ///   - status: the result of the last publication or probe.
    ///   - probe: checks the target; throws the error that publishing would throw.
    init(
        every seconds: Double, logger: Logger, status: @escaping @Sendable () -> PublishStatus?,
        probe: @escaping @Sendable () async throws -> Void
    ) {
        (self.seconds, self.logger, self.status, self.probe) = (seconds, logger, status, probe)
        (triggers, trigger) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// The last result; an expired one triggers a probe in the background.
    var health: ComponentHealth {
        trigger.yield()
        return status().map { ComponentHealth(reason: $0.error?.message) } ?? .unknown
    }

    /// Probes when the last result has expired, until `stop` is called.
    func run() async {
        trigger.yield()
        var wasHealthy = false
        for await _ in triggers where isOld {
            do {
                try await probe()
                if !wasHealthy { logger.info("bucket is writable") }
                wasHealthy = true
            } catch {
                logger.error(
                    "bucket is not writable; jobs wait until it is", metadata: ["error": "\(error)"])
                wasHealthy = false
            }
        }
    }

    func stop() { trigger.finish() }

    private var isOld: Bool { status().map { ContinuousClock.now - $0.date >= .seconds(seconds) } ?? true }
}

extension Limits {
    /// Interval between checks of the publish target while someone watches: each makes two requests to a bucket.
    static let targetCheckSeconds = 60.0
}
