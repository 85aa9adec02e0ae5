import AttachPrep
import AttachPrepModel
import FoundationEssentials
import Logging
import MediaTypes
import SafeArithmetic

/// A rendered result whose bucket is away: it is published when the bucket is back, without a second download.
///
/// The job keeps its lease and its slot meanwhile, so that no more results wait than jobs run on this machine. A
/// restarted service finds the result in `HeldResultStorage`.
struct HeldResult: Sendable {
    let attempt: JobAttempt
    let result: UnpublishedResult
    let fetchedAt: Date

    private var job: ClaimedJob { attempt.job }
    private var dependencies: WorkerDependencies { attempt.dependencies }
    private var breakers: DependencyBreakers { attempt.dependencies.breakers }
    private var held: HeldResultStorage { attempt.dependencies.heldResults }

    /// Failures that each came after others were published: then the bucket is there, and this result is the problem.
    private static let ownFailuresMax = 5
    /// Failures in a row while the bucket took a probe and no other result: then others get this slot.
    private static let suspectFailuresMax = 5

    private static let unpublished = AttachPrepError(.publishUnavailable, "The result waits to be published.")

    /// Publishes the result and stores it, or ends the attempt when the wait is over.
    ///
    /// - Parameters:
    ///   - error: the error of the first attempt to publish; nil when an earlier process made it.
    ///   - store: stores the published manifest.
    func end(
        after error: AttachPrepError?, store: (Manifest) async throws -> AttemptResult
    ) async throws -> AttemptResult {
        defer { result.discard() }
        guard held.reserve(result.bytes, for: job.id) else {
            held.remove(job.id)
            return await ended(error ?? Self.unpublished)
        }
        if error != nil { await keep() }
        switch await publish(after: error) {
        case .published(let manifest):
            attempt.log(manifest)
            // When the database goes away now, the result is published once more, which changes nothing.
            let end = try await store(manifest)
            held.remove(job.id)
            return end
        case .ended(let end):
            if !isClaimedAgain(after: end) { held.remove(job.id) }
            return end
        }
    }

    /// Keeps the result for a restart; without it, the source would be downloaded again.
    private func keep() async {
        do { try await held.keep(result, fetchedAt: fetchedAt, for: job.id) } catch {
            attempt.logger.warning("the result cannot be kept for a restart", metadata: ["error": "\(error)"])
        }
    }

    /// Whether the job returns to the queue because the worker shuts down.
    private func isClaimedAgain(after end: AttemptResult) -> Bool {
        guard case .interrupted = end else { return false }
        return [.held, .returned].contains(dependencies.activeLeases.status(of: job.lease))
    }

    private enum Publication {
        case published(Manifest)
        /// Given up, with the result of the attempt.
        case ended(AttemptResult)
    }

    private func publish(after first: AttachPrepError?) async -> Publication {
        let limit = WaitLimit(job, retentionSeconds: dependencies.settings.retentionSeconds, now: fetchedAt)
        var (error, isTrial, ownFailures, suspectFailures) = (first ?? Self.unpublished, false, 0, 0)
        // The budget of the job ran out during the upload: it is tried once with more time before anyone waits.
        var isTriedAtOnce = first == nil || error.code == .deadlineExceeded
        var successes = breakers.successes(of: .bucket)
        while true {
            if error.code == .cancelled || dependencies.activeLeases.status(of: job.lease) != .held {
                return .ended(.interrupted)
            }
            if !isTriedAtOnce {
                guard let dependency = Self.dependency(namedBy: error), ownFailures < Self.ownFailuresMax else {
                    return .ended(await ended(error, isOwn: true))
                }
                breakers.recordFailure(dependency, error.message, isTrial: isTrial)
                if !isTrial {
                    attempt.logger.info(
                        "rendered; waits to be published",
                        metadata: ["dependency": "\(dependency.rawValue)", "reason": "\(error.message)"])
                } else {
                    suspectFailures = await takesProbe(dependency) ? suspectFailures + 1 : 0
                    if suspectFailures > 0 { breakers.allowAnotherClaim() }
                    if suspectFailures >= Self.suspectFailuresMax { return .ended(await ended(error)) }
                }
                switch try? await breakers.wait(for: dependency, until: limit.end) {
                case .back: isTrial = false
                case .trial: isTrial = true
                case .over where limit.end <= .now: return .ended(overdue(error, limit: limit))
                case .over, nil: return .ended(.interrupted)
                }
            }
            isTriedAtOnce = false
            do {
                let manifest = try await result.publish(before: .now + Self.publishingMax)
                breakers.recordSuccess(.bucket, .signingKey)
                return .published(manifest)
            } catch let failure {
                error = (failure as? AttachPrepError) ?? AttachPrepError(.internal, "The result cannot be published.")
                let latest = breakers.successes(of: .bucket)
                if latest > successes { ownFailures += 1 }
                successes = latest
            }
        }
    }

    /// Time limit of one attempt to publish: 50 MB at 7 Mbit/s.
    private static let publishingMax = Duration.seconds(60)

    /// An endpoint that takes too long is away.
    private static func dependency(namedBy error: AttachPrepError) -> Dependency? {
        error.code == .deadlineExceeded ? .bucket : Dependency(namedBy: error.code, isResolverAway: false)
    }

    private func takesProbe(_ dependency: Dependency) async -> Bool {
        do {
            try await dependencies.preparer.probe(dependency)
            return true
        } catch {
            return false
        }
    }

    /// The end of an attempt whose result is given up.
    ///
    /// - Parameter isOwn: whether the failure is the job's, not the dependency's.
    private func ended(_ error: AttachPrepError, isOwn: Bool = false) async -> AttemptResult {
        let manifest = attempt.rejection(error)
        return isOwn ? .rejected(manifest, failedAt: .now) : await attempt.failed(manifest, failedAt: .now)
    }

    /// The end of a wait that took too long.
    private func overdue(_ error: AttachPrepError, limit: WaitLimit) -> AttemptResult {
        if let notAfter = limit.notAfter, notAfter <= .now {
            return .notStarted(.failed(attempt.rejection(AttachPrepError.deadlineShortened(notAfter))))
        }
        return .notStarted(.dead(attempt.rejection(error)))
    }
}
